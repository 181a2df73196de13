import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GrantInput } from '../../../src/sandbox/linux/landlock/grants.ts';
import { planGrants } from '../../../src/sandbox/linux/landlock/grants.ts';
import { isInside } from '../../../src/sandbox/paths.ts';
import type { Access, FileRule } from '../../../src/sandbox/policy/fileRules.ts';
import { accessTo } from '../../../src/sandbox/policy/fileRules.ts';
import { Random } from '../../harness/random.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

const rule = (path: string, access: Access): FileRule => ({ path, access, source: 'user' });
const nothing = { hidden: [], closed: [], programs: [], opened: [] };

/** What the grants open below a folder, as paths relative to it. */
function opened(input: Partial<GrantInput>, folder: string): string[] {
  const grants = planGrants({ ...nothing, files: [], ...input });
  assert.ok(grants);
  return grants
    .filter(({ kind, path }) => kind === 'read' && isInside(path, folder))
    .map(({ path }) => path.slice(folder.length + 1))
    .sort();
}

describe('planGrants()', () => {
  let folder: string;
  let temporary: Awaited<ReturnType<typeof createTemporaryFolder>>;
  before(async () => {
    temporary = await createTemporaryFolder('grants');
    folder = realpathSync(temporary.path);
    for (const path of ['a/b/c', 'a/b/d', 'a/e', 'f/g', 'h']) {
      mkdirSync(join(folder, path), { recursive: true });
      writeFileSync(join(folder, path, 'file'), '');
    }
    symlinkSync(join(folder, 'h'), join(folder, 'link'));
  });
  after(() => temporary.dispose());
  const at = (path: string): string => join(folder, path);

  it('opens a readable folder as a whole', () => {
    assert.deepEqual(opened({ files: [rule(folder, 'read')] }, folder), ['']);
  });

  it('opens nothing where no rule does', () => {
    assert.deepEqual(opened({}, folder), []);
  });

  it('opens the entries of each folder on the way to something hidden, links left out', () => {
    const files = [rule(folder, 'read'), rule(at('a/b/c'), 'none')];
    assert.deepEqual(opened({ files }, folder), ['a/b/d', 'a/e', 'f', 'h']);
  });

  it('opens a folder inside a hidden one again', () => {
    const files = [
      rule(folder, 'read'),
      rule(at('a'), 'none'),
      rule(at('a/b'), 'read'),
      rule(at('a/b/c'), 'none'),
    ];
    assert.deepEqual(opened({ files }, folder), ['a/b/d', 'f', 'h']);
  });

  it('keeps what is missing closed, should it come to be', () => {
    const files = [rule(folder, 'read'), rule(at('f/missing/deep'), 'none')];
    assert.deepEqual(opened({ files }, folder), ['a', 'f/g', 'h']);
  });

  it('treats matches of patterns as hidden, unless a rule opens them', () => {
    const files = [rule(folder, 'read'), rule(at('h'), 'read')];
    assert.deepEqual(opened({ files, hidden: [at('f'), at('h')] }, folder), ['a', 'h']);
  });

  it('closes what the launcher closes, and opens Cordon’s own programs there', () => {
    const input = { files: [rule(folder, 'read')], closed: [at('a')], programs: [at('a/b/c/file')] };
    assert.deepEqual(opened(input, folder), ['a/b/c/file', 'f', 'h']);
  });

  it('opens no device and no file about processes but those that are harmless, whatever the rules say', () => {
    const grants = planGrants({ ...nothing, files: [rule('/dev', 'read'), rule('/proc/1', 'read')] });
    assert.ok(grants);
    assert.ok(grants.every(({ path }) => !/^\/dev\/?$|^\/proc(\/\d+)?$/.test(path)));
    assert.deepEqual(
      grants.filter(({ kind }) => kind === 'device').map(({ path }) => path),
      ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty'],
    );
  });

  it('gives up rather than naming too many', () => {
    const files = [rule(folder, 'read'), rule(at('a/b/c'), 'none')];
    assert.equal(planGrants({ ...nothing, files }, 5), undefined);
  });

  it('opens exactly what the rules let read, for random rules', () => {
    const paths = everythingBelow(folder);
    const random = new Random(7);
    for (let round = 0; round < 300; round += 1) {
      const files = new Map(
        Array.from({ length: random.integer(1, 5) }, () => {
          const path = random.pick(paths);
          return [path, rule(path, random.chance(0.5) ? 'none' : 'read')] as const;
        }),
      );
      const rules = [...files.values()];
      const open = opened({ files: rules }, folder).map((path) => join(folder, path));
      for (const path of paths.filter((candidate) => !isSplit(candidate, rules))) {
        const isOpen = open.some((grant) => isInside(path, grant));
        assert.equal(
          isOpen,
          accessTo({ files: rules, hidden: [] }, path) === 'read',
          `${path} ${JSON.stringify(rules)}`,
        );
      }
    }
  });
});

/** A folder that holds something hidden is opened entry by entry: it is itself closed. */
function isSplit(path: string, rules: readonly FileRule[]): boolean {
  return rules.some((other) => other.access === 'none' && other.path !== path && isInside(other.path, path));
}

function everythingBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name));
}
