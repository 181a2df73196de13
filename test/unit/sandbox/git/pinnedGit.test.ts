import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { heldRepository } from '../../../../src/sandbox/git/heldRepository.ts';
import { loosensGit, pinnedGit } from '../../../../src/sandbox/git/pinnedGit.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

describe('words for git', () => {
  const loosens = (line: string): boolean => loosensGit(line.split(' '));

  it('may say what to do', () => {
    for (const line of [
      'git push',
      'git push -u origin main --force-with-lease=main:abc',
      'git push --set-upstream git@example.org:a/b.git HEAD:main --tags --repo=x',
      'git fetch --depth=1 -- https://example.org/x',
    ]) {
      assert.equal(loosens(line), false, line);
    }
  });

  it('may not name what to run, or where else', () => {
    for (const line of [
      'git -c core.sshCommand=x push',
      'git -C other push',
      'git --git-dir=x push',
      'git --exec-path=x push',
      'git push --receive-pack=x',
      'git push --receive-pack x',
      'git push --rec=x',
      'git push --exec=x',
      'git push --recurse-submodules=on-demand',
      'git fetch --upload-pack=x',
      'git push ext::sh',
      'git rebase --continue',
      'git alias',
      'git',
    ]) {
      assert.equal(loosens(line), true, line);
    }
  });
});

describe('the repository that a command cannot change', () => {
  let folder: TemporaryFolder;
  let root: string;
  const git = (cwd: string, args: readonly string[], env: object = {}): string =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...env },
    }).trim();
  before(async () => {
    folder = await createTemporaryFolder('repositories');
    root = join(realpathSync(folder.path), 'root');
    mkdirSync(join(root, 'sub'), { recursive: true });
    git(root, ['init', '-q']);
    git(root, ['commit', '-q', '--allow-empty', '-m', 'First.']);
    git(root, ['worktree', 'add', '-q', '../tree']);
  });
  after(() => folder.dispose());

  const all = { isHeld: async () => true };
  const but = (...names: readonly string[]) => ({
    isHeld: async (path: string) => !names.some((name) => path.endsWith(name)),
  });

  it('is the one that git finds', async () => {
    const common = join(root, '.git');
    const found = { gitFolder: common, commonFolder: common, workTree: root };
    assert.deepEqual(await heldRepository(root, all), found);
    assert.deepEqual(await heldRepository(join(root, 'sub'), all), found);
    const tree = join(root, '../tree');
    assert.deepEqual(await heldRepository(tree, all), {
      gitFolder: join(root, '.git/worktrees/tree'),
      commonFolder: common,
      workTree: tree,
    });
    assert.equal(await heldRepository('/', all), 'none');
  });

  it('is loose when a file that decides can be changed, is missing or only linked', async () => {
    assert.equal(await heldRepository(root, but('/.git/config')), 'loose');
    const tree = join(root, '../tree');
    assert.equal(await heldRepository(tree, but('/tree/.git')), 'loose');
    assert.equal(await heldRepository(tree, but('/commondir')), 'loose');
    assert.equal(await heldRepository(tree, but('/.git/config')), 'loose');
    git(root, ['config', 'extensions.worktreeConfig', 'true']);
    assert.equal(await heldRepository(root, all), 'loose');
    git(root, ['config', '--unset', 'extensions.worktreeConfig']);
    assert.notEqual(await heldRepository(root, all), 'loose');
    const [linked, forged] = [join(folder.path, 'linked'), join(folder.path, 'forged')];
    [linked, forged].forEach((path) => mkdirSync(path));
    symlinkSync(join(root, '.git'), join(linked, '.git'));
    writeFileSync(join(forged, '.git'), `gitdir: ${root}/.git\n`);
    assert.equal(await heldRepository(realpathSync(linked), all), 'loose');
    assert.equal(await heldRepository(realpathSync(forged), all), 'loose');
  });

  it('is the only one that git works on, whatever comes to be in the folder', () => {
    const sub = join(root, 'sub');
    git(sub, ['init', '-q']);
    git(sub, ['config', 'core.hooksPath', 'hooks']);
    const own = join(root, '.git');
    const pinned = pinnedGit({ gitFolder: own, commonFolder: own, workTree: root });
    assert.equal(git(sub, ['rev-parse', '--show-toplevel']), sub);
    assert.equal(git(sub, ['rev-parse', '--show-toplevel'], pinned), root);
    assert.equal(git(sub, ['rev-parse', '--show-prefix'], pinned), 'sub/');
    assert.equal(git(sub, ['config', 'core.hooksPath'], pinned), '/dev/null');
    assert.throws(() => git(sub, ['status'], pinnedGit(undefined)));
    git(sub, ['config', 'test.planted', 'yes']);
    git(root, ['config', 'test.own', 'yes']);
    writeFileSync(join(own, 'commondir'), join(sub, '.git'));
    assert.equal(git(root, ['config', 'test.planted']), 'yes');
    assert.throws(() => git(root, ['config', 'test.planted'], pinned));
    assert.equal(git(root, ['config', 'test.own'], pinned), 'yes');
    rmSync(join(own, 'commondir'));
  });
});
