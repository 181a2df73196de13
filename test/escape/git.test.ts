import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from './harness.ts';
import { Arena, arenaOf, isRoot } from './harness.ts';

const nobody = 65534;
const users = [
  { name: 'the user of the tests', startedBy: [], makeArena: async () => new Arena() },
  // Others have run the first half themselves.
  ...(isRoot
    ? [
        {
          name: 'an ordinary user',
          startedBy: ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'],
          makeArena: () => arenaOf(nobody),
        },
      ]
    : []),
];

for (const { name, startedBy, makeArena } of users) {
  describe(`Git works for commands that run it, as ${name}:`, function () {
    before(function () {
      if (process.platform !== 'linux') this.skip();
    });

    let arena: Arena;
    beforeEach(async () => void (arena = await makeArena()));
    afterEach(() => arena.dispose());

    const host = (folder: string, ...args: string[]): string =>
      execFileSync('git', ['-c', 'safe.directory=*', '-c', 'protocol.file.allow=always', ...args], {
        cwd: folder,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    const makeRepository = (folder: string): void => {
      mkdirSync(folder, { recursive: true });
      host(folder, 'init', '-q', '-b', 'main');
      host(folder, 'config', 'user.name', 'Ada');
      host(folder, 'config', 'user.email', 'ada@example.org');
      writeFileSync(join(folder, 'file'), 'one\n');
      host(folder, 'add', '.');
      host(folder, 'commit', '-qm', 'first');
    };
    const run = async (script: string, git: 'read-only' | 'writable', cwd = arena.root): Promise<Outcome> => {
      if (startedBy.length > 0) {
        execFileSync('chown', ['-R', `${nobody}:${nobody}`, arena.folder]);
        execFileSync('chmod', ['-R', 'a+rwX', arena.folder]);
      }
      // A home without anybody's settings; a local submodule is a clone over `file:`.
      const env = {
        HOME: arena.outside,
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'protocol.file.allow',
        GIT_CONFIG_VALUE_0: 'always',
      };
      const policy = arena.policy({ git });
      return arena.run(['/bin/bash', '-ec', script], { startedBy, env, cwd }, policy);
    };
    /** Succeeds with the policy for git; with the one for any other command it must not. */
    const works = async (script: string, cwd = arena.root): Promise<string> => {
      const outcome = await run(script, 'writable', cwd);
      assert.equal(outcome.exitCode, 0, outcome.stderr);
      return outcome.stdout;
    };
    const ids = '-c user.name=Ada -c user.email=ada@example.org';

    it('init and the first commit', async () => {
      await works(`git init -q -b main . && echo x > file && git add . && git ${ids} commit -qm first`);
      assert.match(host(arena.root, 'log', '--oneline'), /first/);
    });

    const everyday: Readonly<Record<string, readonly [script: string, log: RegExp]>> = {
      'commit and amend': [
        'echo two > file; git commit -qam second; git commit -q --amend -m better',
        /better\n.*first/,
      ],
      'a branch and a merge': [
        'git checkout -qb topic; echo t > t; git add t; git commit -qm topic; git checkout -q main; echo m > m; git add m; git commit -qm main; git merge -q --no-edit topic; git branch -d topic',
        /Merge branch 'topic'/,
      ],
      'an interactive rebase': [
        'for n in 1 2 3; do echo $n > f$n; git add .; git commit -qm c$n; done; GIT_SEQUENCE_EDITOR="sed -i 2s/pick/drop/" git rebase -qi HEAD~3',
        /c3\n.*c1\n.*first/,
      ],
      'a stash': [
        'echo two > file; git stash -q; test "$(cat file)" = one; git stash pop -q; test "$(cat file)" = two; git commit -qam popped',
        /popped/,
      ],
      'a cherry-pick and a tag': [
        'git checkout -qb side; echo s > s; git add s; git commit -qm side; git checkout -q main; git cherry-pick side; git tag -a -m v1 v1',
        /tag: v1.*side/,
      ],
      'gc and packed refs': [
        'git commit -q --allow-empty -m second; git pack-refs --all; git gc -q',
        /second/,
      ],
      'a worktree, made, used and removed': [
        'git worktree add -q wt -b wt; cd wt; echo w > w; git add w; git commit -qm inside; cd ..; git merge -q wt; git worktree remove wt; git branch -d wt',
        /inside/,
      ],
    };
    for (const [what, [script, log]] of Object.entries(everyday)) {
      it(what, async () => {
        makeRepository(arena.root);
        const commits = host(arena.root, 'rev-parse', 'HEAD');
        assert.notEqual((await run(script, 'read-only')).exitCode, 0);
        assert.equal(host(arena.root, 'rev-parse', 'HEAD'), commits);
        host(arena.root, 'reset', '-q', '--hard');
        host(arena.root, 'clean', '-qfdx');
        await works(script);
        assert.match(host(arena.root, 'log', '--oneline', '--decorate'), log);
        host(arena.root, 'fsck');
      });
    }

    it('removing a worktree of an earlier command', async () => {
      makeRepository(arena.root);
      await works('git worktree add -q wt -b wt');
      await works('cd wt; echo w > w; git add w; git commit -qm inside');
      await works('git worktree remove wt');
      assert.deepEqual(readdirSync(arena.root).sort(), ['.git', 'file']);
      assert.equal(host(arena.root, 'worktree', 'list').trim().split('\n').length, 1);
    });

    it('a commit in a linked worktree whose repository lies outside', async function () {
      // Git itself does not work in a repository of another user than Cordon's.
      if (startedBy.length > 0) this.skip();
      const repository = join(arena.outside, 'repository');
      makeRepository(repository);
      rmSync(arena.root, { recursive: true });
      host(repository, 'worktree', 'add', '-q', arena.root);
      await works(
        'echo two > file; git commit -qam elsewhere; ! echo x > ../outside/repository/.git/hooks/x; ! echo x > ../outside/repository/file',
      );
      assert.match(host(arena.root, 'log', '--oneline'), /elsewhere/);
      assert.equal(existsSync(join(repository, '.git/hooks/x')), false);
      assert.notEqual((await run('git commit -q --allow-empty -m no', 'read-only')).exitCode, 0);
    });

    it('a commit in a root that is a folder of the repository', async function () {
      if (startedBy.length > 0) this.skip();
      makeRepository(arena.folder);
      await works(
        'echo x > x; git add x; git commit -qm part; ! echo x > ../.git/config; ! echo x > ../file',
      );
      assert.match(host(arena.folder, 'log', '--oneline'), /part/);
      assert.deepEqual(readdirSync(arena.root), ['x']);
    });

    it('a commit in a nested repository', async () => {
      makeRepository(arena.root);
      makeRepository(join(arena.root, 'a/b/nested'));
      await works('cd a/b/nested; echo two > file; git commit -qam deep; ! echo x > .git/hooks/x');
      assert.match(host(join(arena.root, 'a/b/nested'), 'log', '--oneline'), /deep/);
    });

    it('a submodule: its update, and a commit in it', async () => {
      const library = join(arena.outside, 'library');
      makeRepository(library);
      makeRepository(arena.root);
      host(arena.root, 'submodule', 'add', '-q', library, 'lib');
      host(arena.root, 'commit', '-qm', 'with library');
      host(library, 'commit', '-q', '--allow-empty', '-m', 'newer');
      host(join(arena.root, 'lib'), 'config', 'user.name', 'Ada');
      host(join(arena.root, 'lib'), 'config', 'user.email', 'ada@example.org');
      await works('git submodule update -q --remote; git commit -qam updated');
      await works('cd lib; echo two > file; git commit -qam mine; ! echo x > ../.git/modules/lib/hooks/x');
      assert.match(host(join(arena.root, 'lib'), 'log', '--oneline'), /mine\n.*newer/);
    });

    it('a clone into a folder of the root, whose hooks and settings stay as git made them', async () => {
      const library = join(arena.outside, 'library');
      makeRepository(library);
      makeRepository(arena.root);
      await works(`git clone -q ${library} copy; git init -q --bare bare.git; git init -q fresh`);
      const settings = host(join(arena.root, 'copy'), 'config', '--local', '--list');
      assert.match(settings, /remote\.origin\.url/);
      for (const folder of ['copy/.git', 'bare.git', 'fresh/.git']) {
        assert.doesNotMatch(readdirSync(join(arena.root, folder)).join(' '), /disarmed/);
      }
    });

    it('a new submodule, though not the copy of its address in the configuration', async () => {
      const library = join(arena.outside, 'library');
      makeRepository(library);
      makeRepository(arena.root);
      await works(`git submodule --quiet add ${library} lib; git commit -qm added`);
      assert.match(host(arena.root, 'show', '--stat'), /\.gitmodules.*\n.* lib /);
      host(arena.root, 'submodule', '-q', 'init');
      assert.match(host(arena.root, 'submodule', 'status'), /lib/);
    });

    it('a branch that follows another, though that is not noted, and nothing else that changes settings', async () => {
      makeRepository(arena.root);
      await works('git checkout -q --track -b topic main');
      const outcome = await run('git config core.fsmonitor evil', 'writable');
      assert.match(outcome.stderr, /could not write config file .*config: Device or resource busy/);
      assert.equal(host(arena.root, 'branch', '--show-current'), 'topic\n');
    });
  });
}
