import assert from 'node:assert/strict';
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PermissionEntry } from '../../../../src/runtime/execServer/protocol/sandboxContext.ts';
import { confinementOf } from '../../../../src/runtime/execServer/services/sandboxContext/confinement.ts';
import { contextMachine } from '../../../../src/runtime/execServer/services/sandboxContext/contextMachine.ts';
import { isInside } from '../../../../src/sandbox/paths.ts';
import type { Access } from '../../../../src/sandbox/policy/fileRules.ts';
import { accesses, accessTo } from '../../../../src/sandbox/policy/fileRules.ts';
import { Random } from '../../../harness/random.ts';
import { at, contextOf, place } from '../../../harness/sandboxContexts.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

const names = ['a', 'b', 'c'];
const words = ['read', 'write', 'deny'] as const;
/** What wins at one path: as the protocol has it. */
const precedence: readonly Access[] = ['read', 'write', 'none'];

interface Said {
  readonly path: string;
  readonly access: Access;
  readonly entry: PermissionEntry;
}

describe('Random sandbox contexts over random trees', () => {
  let temporary: TemporaryFolder;
  beforeEach(async () => {
    temporary = await createTemporaryFolder('context-fuzz');
  });
  afterEach(() => temporary.dispose());

  const first = Number(process.env['CORDON_FUZZ_SEED'] ?? 20_261_130);
  for (const [what, linkShare] of [
    ['mean exactly their deepest entries where there are no links', 0],
    ['never give more than these where there are', 0.3],
  ] as const) {
    it(`${what} (seed ${first})`, async () => {
      let refusals = 0;
      let narrower = 0;
      for (let seed = first; seed < first + 150; seed++) {
        const random = new Random(seed);
        const top = join(temporary.path, String(seed));
        const paths = plant(random, top, linkShare);
        const said = Array.from({ length: random.integer(1, 7) }, () => saying(random, top, paths));
        const answer = await confinementOf(
          {
            sandbox: contextOf(
              said.map(({ entry }) => entry),
              { workspaceRoots: [pathToFileURL(top).href] },
            ),
          },
          { kind: 'process', cwd: top },
          { ...contextMachine({}), sharedFolders: [] },
        );
        if (!answer.ok) {
          refusals++;
          continue;
        }
        const { policy } = answer.value;
        for (const path of new Set([...paths.map(canonical), '/', '/etc', dirname(top)])) {
          const given = accessTo(policy, path);
          const plain = plainly(said, path);
          const story = `seed ${seed}: ${path} is ${given}, not ${plain}: ${JSON.stringify(said.map((one) => [one.path, one.access]))}`;
          if (linkShare === 0) {
            assert.equal(given, plain, story);
          }
          assert.ok(accesses.indexOf(given) <= accesses.indexOf(plain), story);
          narrower += given === plain ? 0 : 1;
        }
      }
      assert.equal(linkShare > 0, narrower > 0);
      assert.ok(linkShare > 0 ? refusals < 100 : refusals === 0);
    });
  }
});

/** Files, folders, and links to any of them; some lead nowhere. */
function plant(random: Random, folder: string, linkShare: number, depth = 0): string[] {
  mkdirSync(folder);
  return [
    folder,
    ...names.flatMap((name) => {
      const path = join(folder, name);
      if (random.chance(linkShare)) {
        const up = random.pick(['', '../', '../../']);
        symlinkSync(random.pick([`${up}${random.pick(names)}`, up || '.', '/etc', '/']), path);
        return [path];
      }
      if (depth < 2 && random.chance(0.7)) {
        return plant(random, path, linkShare, depth + 1);
      }
      writeFileSync(path, '');
      return [path];
    }),
  ];
}

function saying(random: Random, top: string, paths: readonly string[]): Said {
  const word = random.pick(words);
  const access = word === 'deny' ? 'none' : word;
  if (random.chance(0.2)) {
    return { path: '/', access, entry: place('root', word) };
  }
  const path = random.chance(0.1) ? join(top, 'missing') : random.pick(paths);
  const subpath = path.slice(top.length + 1);
  const entry = random.chance(0.3) && subpath !== '' ? place('project_roots', word, subpath) : at(path, word);
  return { path, access, entry };
}

/** The deepest entry over a canonical path, links followed wherever they lead. */
function plainly(said: readonly Said[], path: string): Access {
  const [deepest] = said
    .filter((one) => one.access !== 'write' || existsSync(one.path))
    .map((one) => ({ path: canonical(one.path), access: one.access }))
    .filter((one) => isInside(path, one.path))
    .sort(
      (one, other) =>
        other.path.length - one.path.length ||
        precedence.indexOf(other.access) - precedence.indexOf(one.access),
    );
  return deepest?.access ?? 'none';
}

function canonical(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(canonicalFolder(dirname(path)), basename(path));
}

function canonicalFolder(path: string): string {
  return path === '/' ? path : canonical(path);
}
