import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { Arena } from './harness.ts';

/** What an archive or an earlier command may have put into the workspace; `folder` is the work tree, `vault` the aim. */
const plants: Readonly<Record<string, (folder: string, vault: string) => void>> = {
  'a pointer that leads to it': (folder, vault) => writeFileSync(join(folder, '.git'), `gitdir: ${vault}\n`),
  'a link that leads to it': (folder, vault) => symlinkSync(vault, join(folder, '.git')),
  'a worktree whose repository it would be': (folder, vault) => {
    mkdirSync(join(folder, 'gd'));
    writeFileSync(join(folder, '.git'), 'gitdir: gd\n');
    plantWorktree(join(folder, 'gd'), folder, vault);
  },
  'a worktree behind a link': (folder, vault) => {
    mkdirSync(join(folder, 'gd'));
    symlinkSync('gd', join(folder, '.git'));
    plantWorktree(join(folder, 'gd'), folder, vault);
  },
  'a submodule whose objects it would have': (folder, vault) => {
    mkdirSync(join(folder, 'gd'));
    writeFileSync(join(folder, '.git'), 'gitdir: gd\n');
    writeFileSync(join(folder, 'gd/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(folder, 'gd/config'), `[core]\nworktree = ${folder}\n`);
    symlinkSync(vault, join(folder, 'gd/objects'));
  },
};

function plantWorktree(gitFolder: string, workTree: string, common: string): void {
  writeFileSync(join(gitFolder, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(gitFolder, 'gitdir'), `${workTree}/.git\n`);
  writeFileSync(join(gitFolder, 'commondir'), `${common}\n`);
}

describe('A repository that was planted opens no folder outside', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  beforeEach(() => void (arena = new Arena()));
  afterEach(() => arena.dispose());

  for (const [name, plant] of Object.entries(plants)) {
    for (const place of ['in the root', 'in a folder of it', 'above it'] as const) {
      it(`${name}, ${place}`, async () => {
        const vault = join(arena.outside, 'vault');
        mkdirSync(join(vault, 'objects'), { recursive: true });
        writeFileSync(join(vault, 'HEAD'), 'ref: refs/heads/main\n');
        writeFileSync(join(vault, 'objects/key'), 'hunter2');
        const inner = join(arena.root, 'inner');
        mkdirSync(inner);
        plant(place === 'in a folder of it' ? inner : arena.root, vault);
        const root = place === 'above it' ? inner : arena.root;
        const steals = async (access: 'none' | 'read', git: 'read-only' | 'writable'): Promise<boolean> => {
          const policy = arena.policy({ git }, root);
          const hidden: SandboxPolicy = {
            ...policy,
            files: [...policy.files, { path: vault, access, source: 'default' }],
          };
          const script = `cat ${vault}/objects/key; echo evil > ${vault}/new`;
          const { stdout } = await arena.run(['/bin/sh', '-c', script], { cwd: root }, hidden);
          return stdout.includes('hunter2');
        };
        assert.equal(await steals('none', 'read-only'), false);
        assert.equal(await steals('none', 'writable'), false);
        assert.equal(existsSync(join(vault, 'new')), false);
        // Negative control.
        assert.equal(await steals('read', 'read-only'), true);
      });
    }
  }
});
