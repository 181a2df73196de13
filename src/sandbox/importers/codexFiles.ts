import type { Access } from '../policy/fileRules.ts';
import { protectedNames } from '../policy/protectedNames.ts';
import type { PolicySettings } from '../policy/settings.ts';
import type { CodexAccess, CodexProfile } from './codexConfig.ts';
import type { Notes } from './importedPolicy.ts';
import { isGlob, wholeFolder } from './paths.ts';

/** The `filesystem` table and the `workspace_roots` of a resolved profile as mode, files, folders and git. */
export function importCodexFiles(profile: CodexProfile, notes: Notes): PolicySettings {
  const table = profile.filesystem ?? {};
  const roots = Object.entries(profile.workspace_roots ?? {}).flatMap(([path, isOn]) => (isOn ? [path] : []));
  const inRoots = { ...scopedOf(table[':project_roots']), ...scopedOf(table[':workspace_roots']) };
  const own = inRoots['.'];
  const outside = Object.entries(table).flatMap(([base, entry]) =>
    base.startsWith(':') ? [] : absoluteRules(base, entry, notes),
  );
  const inside = Object.entries(inRoots).filter(([path]) => path !== '.');
  const isWritable = [
    ...outside.map(([, access]) => access),
    ...Object.values(inRoots),
    table[':root'],
  ].includes('write');
  noteSpecials(table, notes);
  const files = Object.fromEntries([
    ...baseRules(table, own),
    ...(own === 'write' || own === undefined ? [] : roots.map((root) => [root, accessOf(own)] as const)),
    ...inside.flatMap(([path, access]) =>
      ['', ...roots.map((root) => `${root}/`)].flatMap((prefix) => rule(prefix, path, access, notes)),
    ),
    ...outside.map(([path, access]) => [path, accessOf(access)] as const),
  ]);
  return {
    mode: isWritable ? 'workspace-write' : 'read-only',
    ...gitOf(inRoots['.git']),
    ...(own === 'write' && roots.length > 0 ? { writableRoots: roots } : {}),
    ...(Object.keys(files).length > 0 ? { files } : {}),
  };
}

type Entry = NonNullable<CodexProfile['filesystem']>[string];
type Scoped = Readonly<Record<string, CodexAccess>>;

function scopedOf(entry: Entry | undefined): Scoped {
  if (typeof entry === 'string') {
    return { '.': entry };
  }
  return typeof entry === 'object' ? entry : {};
}

function accessOf(access: CodexAccess): Access {
  return access === 'deny' ? 'none' : access;
}

/** What Codex gives to the disk, to the system's programs and to the roots themselves where Cordon's defaults differ. */
function baseRules(table: Readonly<Record<string, Entry>>, own: CodexAccess | undefined): [string, Access][] {
  const { '.': disk } = scopedOf(table[':root']);
  const { '.': minimal } = scopedOf(table[':minimal']);
  const isDiskOpen = disk === 'read' || disk === 'write';
  const rules: [string, Access][] = [];
  if (!isDiskOpen) {
    rules.push([':root', 'none'], [':toolchains', 'none']);
  } else if (disk === 'write') {
    rules.push([':root', 'write']);
  }
  if (minimal !== undefined && (!isDiskOpen || accessOf(minimal) === 'none')) {
    rules.push([':minimal', accessOf(minimal)]);
  }
  if (own !== 'write') {
    rules.push([':workspace', own === undefined ? (isDiskOpen ? 'read' : 'none') : accessOf(own)]);
  }
  return rules;
}

function gitOf(access: CodexAccess | undefined): PolicySettings {
  return access === 'write' ? { git: 'writable' } : access === 'read' ? { git: 'read-only' } : {};
}

/** One entry below the roots; `prefix` is empty for the workspace's own root. */
function rule(prefix: string, path: string, access: CodexAccess, notes: Notes): [string, Access][] {
  const [first = ''] = path.split('/');
  const isProtected = protectedNames.includes(first);
  if (isProtected && access !== 'deny' && access !== 'none') {
    // `.git` itself is the clause `git`; the others are read-only in Cordon anyway.
    if (access === 'write' && path !== '.git') {
      notes.add(`"${path}" = "write"`, `${first} stays read-only: editors and tools run what lies in it.`);
    }
    return [];
  }
  return fileRule(`${prefix}${path}`, access, notes);
}

function absoluteRules(base: string, entry: Entry, notes: Notes): [string, CodexAccess][] {
  if (typeof entry === 'number' || typeof entry === 'boolean') {
    return [];
  }
  if (!/^(?:\/|~$|~\/)/.test(base)) {
    notes.add(`"${base}"`, 'Not a path of this platform.');
    return [];
  }
  return Object.entries(scopedOf(entry)).flatMap(([sub, access]) =>
    fileRule(sub === '.' ? base : `${base}/${sub}`, access, notes).map(([path]): [string, CodexAccess] => [
      path,
      access,
    ]),
  );
}

function fileRule(path: string, access: CodexAccess, notes: Notes): [string, Access][] {
  const whole = wholeFolder(path);
  if (isGlob(whole) && accessOf(access) !== 'none') {
    notes.add(`"${path}" = "${access}"`, 'Patterns can only hide: name the folder instead.');
    return [];
  }
  return [[whole, accessOf(access)]];
}

const known = [':root', ':minimal', ':workspace_roots', ':project_roots', ':tmpdir', ':slash_tmp'];

function noteSpecials(table: Readonly<Record<string, Entry>>, notes: Notes): void {
  const { '.': disk } = scopedOf(table[':root']);
  if (disk === 'read' || disk === 'write') {
    notes.add(
      `":root" = "${disk}"`,
      'Cordon keeps the home folder hidden, except for toolchains. To open it, add ":home": "read" to the files of the profile.',
    );
  }
  for (const name of [':tmpdir', ':slash_tmp']) {
    if (table[name] !== undefined) {
      notes.add(
        name,
        'Each command has a temporary folder of its own, which it may write. To use the machine’s, set tmp to "shared".',
      );
    }
  }
  for (const name of Object.keys(table).filter((key) => key.startsWith(':') && !known.includes(key))) {
    notes.add(name, 'Unknown to Cordon; Codex ignores what it does not know, too.');
  }
  if (table['glob_scan_max_depth'] !== undefined) {
    notes.add('glob_scan_max_depth', 'Cordon looks for hidden names at every depth.');
  }
  if (table['allow_limited_git_writes'] !== undefined) {
    notes.add(
      'allow_limited_git_writes',
      'Cordon’s own rule holds: command lines that run git may write .git.',
    );
  }
}
