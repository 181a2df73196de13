import { parse } from 'jsonc-parser';
import type { ParseError } from 'jsonc-parser';
import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { PolicySettings } from '../policy/settings.ts';
import { importClaudeRules } from './claudeRules.ts';
import { importFileLists } from './fileLists.ts';
import type { ImportedPolicy, ImportProblem } from './importedPolicy.ts';
import { Notes } from './importedPolicy.ts';
import { importHosts } from './importHosts.ts';

const flag = z.boolean().optional();
const words = z.array(z.string()).default([]);

const settingsSchema = z.looseObject({
  sandbox: z
    .looseObject({
      enabled: flag,
      filesystem: z
        .looseObject({ allowRead: words, allowWrite: words, denyRead: words, denyWrite: words })
        .prefault({}),
      network: z
        .looseObject({ allowedDomains: words, deniedDomains: words, allowUnixSockets: words })
        .prefault({}),
      credentials: z
        .looseObject({
          files: z.array(z.looseObject({ path: z.string() })).default([]),
          envVars: z.array(z.looseObject({ name: z.string() })).default([]),
        })
        .prefault({}),
    })
    .optional(),
  permissions: z.looseObject({ allow: words, ask: words, deny: words }).optional(),
});

/**
 * The policy that the user's `settings.json` of Claude Code describes: its sandbox, and the rules for files and
 * domains that it merges into it. Empty when the file says nothing about either.
 */
export function importClaude(
  text: string,
  { homeDir }: { readonly homeDir: string },
): Result<readonly ImportedPolicy[], ImportProblem> {
  const errors: ParseError[] = [];
  const document: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split('\n').length;
    return fail({ message: `It is not valid JSON (line ${line}).` });
  }
  const parsed = settingsSchema.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fail({
      message: `${(issue?.path ?? []).join('.')} is not what Claude Code expects: ${issue?.message ?? ''}.`,
    });
  }
  const { sandbox, permissions } = parsed.data;
  if (sandbox === undefined && permissions === undefined) {
    return ok([]);
  }
  const notes = new Notes();
  const settings = translate(parsed.data, homeDir, notes);
  return ok([{ name: 'sandbox', isInUse: sandbox?.enabled === true, settings, notes: notes.all }]);
}

function translate(
  { sandbox, permissions }: z.infer<typeof settingsSchema>,
  homeDir: string,
  notes: Notes,
): PolicySettings {
  const rules = importClaudeRules(permissions ?? { allow: [], ask: [], deny: [] }, notes);
  const { filesystem, network, credentials } = sandbox ?? {};
  const given = (name: 'allowRead' | 'allowWrite' | 'denyRead' | 'denyWrite'): readonly string[] =>
    (filesystem?.[name] ?? []).flatMap((path) => ownPath(name, path, notes));
  const secretFiles = (credentials?.files ?? []).flatMap(({ path }) => ownPath('denyRead', path, notes));
  const secretNames = (credentials?.envVars ?? []).map(({ name }) => name);
  const allowed = [...(network?.allowedDomains ?? []), ...rules.allowedDomains];
  const denied = [...(network?.deniedDomains ?? []), ...rules.deniedDomains];
  const hosts = importHosts({ allow: allowed, deny: denied }, notes);
  const sockets = (network?.allowUnixSockets ?? []).map((path) => path.replace(/^~(?=\/)/, homeDir));
  noteRest(sandbox ?? {}, notes);
  return {
    ...(sandbox?.enabled === true ? { mode: 'workspace-write' as const } : {}),
    ...importFileLists(
      {
        allowRead: given('allowRead'),
        allowWrite: [...given('allowWrite'), ...rules.allowWrite],
        denyRead: [...given('denyRead'), ...secretFiles, ...rules.denyRead],
        denyWrite: [...given('denyWrite'), ...rules.denyWrite],
      },
      homeDir,
      notes,
    ),
    ...(allowed.length > 0 ? { network: 'allow-list' as const } : {}),
    ...(Object.keys(hosts).length > 0 ? { hosts } : {}),
    ...(sockets.length > 0 ? { sockets } : {}),
    ...(secretNames.length > 0 ? { environment: { exclude: secretNames } } : {}),
  };
}

/** Relative paths of the user's own file begin at its folder: a good place to protect, a bad one to open. */
function ownPath(list: string, path: string, notes: Notes): readonly string[] {
  const absolute = path.replace(/^\/\/+/, '/');
  if (/^(?:\/|~$|~\/)/.test(absolute)) {
    return [absolute];
  }
  const inOwnFolder = `~/.claude/${absolute.replace(/^\.\/?/, '')}`.replace(/\/$/, '');
  if (list.startsWith('deny')) {
    return [inOwnFolder];
  }
  notes.add(
    `${list} ${path}`,
    `In this file it means ${inOwnFolder}, which steers the agent: it stays as it is.`,
  );
  return [];
}

function noteRest(sandbox: Readonly<Record<string, unknown>>, notes: Notes): void {
  if (sandbox['enabled'] !== true) {
    notes.add(
      'sandbox.enabled',
      'It is not on, so Claude Code runs commands unconfined. That is not carried over.',
    );
  }
  const of = (part: string): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries((part === '' ? sandbox : sandbox[part]) ?? {}).map(([key, value]) => [
        ['sandbox', part, key].filter((word) => word !== '').join('.'),
        value,
      ]),
    );
  notes.addPresent({ ...of(''), ...of('filesystem'), ...of('network') }, restWhys);
}

const questions = 'Which calls ask you is decided by the editor’s chat, not by the sandbox.';
const macOnly = 'For macOS only.';
const ownProxy = 'Cordon runs a proxy of its own.';
const managedOnly = 'For an administrator’s file only; Cordon has its own.';

const restWhys: Readonly<Record<string, string>> = {
  'sandbox.failIfUnavailable': 'Cordon never runs a command without the sandbox that its policy asks for.',
  'sandbox.autoAllowBashIfSandboxed': questions,
  'sandbox.allowUnsandboxedCommands': questions,
  'sandbox.excludedCommands': 'No command leaves the sandbox by its name.',
  'sandbox.enableWeakerNestedSandbox': 'Cordon has no weaker sandbox.',
  'sandbox.enableWeakerNetworkIsolation': macOnly,
  'sandbox.allowAppleEvents': macOnly,
  'sandbox.bwrapPath': managedOnly,
  'sandbox.socatPath': managedOnly,
  'sandbox.filesystem.allowManagedReadPathsOnly': managedOnly,
  'sandbox.network.allowManagedDomainsOnly': managedOnly,
  'sandbox.network.allowAllUnixSockets': 'Sockets are named one by one, in sockets.',
  'sandbox.network.allowLocalBinding':
    'Commands may always run servers of their own; the machine’s stay out of reach.',
  'sandbox.network.allowMachLookup': macOnly,
  'sandbox.network.httpProxyPort': ownProxy,
  'sandbox.network.socksProxyPort': ownProxy,
};
