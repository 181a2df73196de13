import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Finding } from '../../src/sandbox/aftermath/finding.ts';
import { trapName } from '../../src/sandbox/linux/leases.ts';
import { heldNames } from '../../src/sandbox/policy/protectedNames.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { Edit } from './harness.ts';
import { Arena, all, finished, removing, start, withoutMount } from './harness.ts';

describe('A command cannot change the metadata of its root', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  beforeEach(() => void (arena = new Arena()));
  afterEach(() => arena.dispose());

  const git = (...args: string[]): void =>
    void execFileSync('git', ['-C', arena.root, ...args], { stdio: 'pipe' });

  it('by writing a hook or the configuration', async () => {
    git('init', '-q');
    const hook = join(arena.root, '.git/hooks/pre-commit');
    const script = 'echo evil > .git/hooks/pre-commit; git config core.fsmonitor evil';
    await arena.shell(script);
    assert.equal(existsSync(hook), false);
    assert.doesNotMatch(readFileSync(join(arena.root, '.git/config'), 'utf8'), /evil/);
    await arena.shell(script, { without: withoutMount(`${arena.root}/.git`) });
    assert.ok(existsSync(hook));
    assert.match(readFileSync(join(arena.root, '.git/config'), 'utf8'), /evil/);
  });

  it('by moving or deleting .git', async () => {
    git('init', '-q');
    await arena.shell('mv .git away; rm -rf .git');
    assert.ok(existsSync(join(arena.root, '.git/HEAD')));
    await arena.shell('mv .git away', {
      without: withoutMount(`${arena.root}/.git`),
    });
    assert.ok(existsSync(join(arena.root, 'away/HEAD')));
  });

  for (const name of heldNames) {
    it(`by making a missing ${name}`, async () => {
      const script = `mkdir -p ${name}/hooks; echo evil > ${name}/hooks/x; rmdir ${name}; mv ${name} y; echo evil > ${name}`;
      await arena.shell(script);
      assert.deepEqual(readdirSync(arena.root), []);
      const path = join(arena.root, name);
      await arena.shell(script, { without: withoutMount(path) });
      assert.notDeepEqual(readdirSync(arena.root), []);
    });
  }

  it('behind a pointer file, whose repository lies in another writable root', async () => {
    const repository = join(arena.outside, 'repository');
    execFileSync('git', ['init', '-q', '--separate-git-dir', repository, arena.root], { stdio: 'pipe' });
    const policy = arena.policy({ writableRoots: [arena.outside] });
    const argv = [
      '/bin/sh',
      '-c',
      `echo evil > ${repository}/hooks/x; echo gitdir: /x > .git; echo fine > ${arena.outside}/file`,
    ];
    await arena.run(argv, {}, policy);
    assert.deepEqual(
      [existsSync(join(repository, 'hooks/x')), existsSync(join(arena.outside, 'file'))],
      [false, true],
    );
    assert.match(readFileSync(join(arena.root, '.git'), 'utf8'), /repository/);
    await arena.run(argv, { without: withoutMount(repository) }, policy);
    assert.ok(existsSync(join(repository, 'hooks/x')));
  });

  it('beyond commits, when the person made .git writable', async () => {
    git('init', '-q');
    const folder = join(arena.root, '.git');
    const policy = arena.policy({ writableRoots: [folder] });
    const argv = [
      '/bin/sh',
      '-c',
      'echo evil > .git/hooks/x; echo evil >> .git/config; mv .git/hooks .git/h; mv .git away; echo fine > .git/fine',
    ];
    await arena.run(argv, {}, policy);
    assert.deepEqual(
      ['hooks/x', 'h', 'fine'].map((name) => existsSync(join(folder, name))),
      [false, false, true],
    );
    assert.doesNotMatch(readFileSync(join(folder, 'config'), 'utf8'), /evil/);
    await arena.run(argv, { without: withoutMount(`${folder}/hooks`) }, policy);
    assert.ok(existsSync(join(folder, 'h/x')));
  });

  it('by making missing hooks, when the person made .git writable', async () => {
    git('init', '-q');
    const folder = join(arena.root, '.git');
    execFileSync('rm', ['-r', join(folder, 'hooks')]);
    const policy = arena.policy({ writableRoots: [folder] });
    const argv = ['/bin/sh', '-c', 'mkdir .git/hooks; echo evil > .git/hooks/pre-commit'];
    await arena.run(argv, {}, policy);
    assert.equal(existsSync(join(folder, 'hooks')), false);
    const hooks = join(folder, 'hooks');
    await arena.run(argv, { without: withoutMount(hooks) }, policy);
    assert.ok(existsSync(join(hooks, 'pre-commit')));
  });
});

describe('A command cannot change what git and editors obey, wherever it is in a root:', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  beforeEach(() => void (arena = new Arena()));
  afterEach(() => arena.dispose());

  const inside = (name: string): string => join(arena.root, name);
  const put = (name: string, text = 'original'): string => {
    mkdirSync(dirname(inside(name)), { recursive: true });
    writeFileSync(inside(name), text);
    return inside(name);
  };
  const host = (folder: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  const makeRepository = (name: string): string => {
    mkdirSync(inside(name), { recursive: true });
    host(inside(name), 'init', '-q');
    return inside(name);
  };
  /** The script leaves no such file, unless that one defence is taken away. */
  const resists = async (
    script: string,
    evidence: () => boolean,
    without: Edit,
    policy = arena.policy(),
  ): Promise<void> => {
    const argv = ['/bin/bash', '-c', script];
    await arena.run(argv, {}, policy);
    assert.equal(evidence(), false, 'the attack succeeds with every defence');
    await arena.run(argv, { without }, policy);
    assert.equal(evidence(), true, 'the attack fails without the defence, too: it proves nothing');
  };

  it('the hooks of a nested repository, at any depth', async () => {
    const git = join(makeRepository('a/b/c/d/e/f/g/nested'), '.git');
    await resists(
      `echo evil > ${git}/hooks/pre-commit`,
      () => existsSync(join(git, 'hooks/pre-commit')),
      withoutMount(git),
    );
  });

  it('the folder above a nested repository, by renaming it and building it anew', async () => {
    const git = join(makeRepository('a/nested'), '.git');
    const script = `mv ${inside('a')} ${inside('b')} && cp -r ${inside('b')} ${inside('a')} && echo evil > ${git}/hooks/x`;
    await resists(
      script,
      () => existsSync(inside('b')),
      all(withoutMount(inside('a/nested')), withoutMount(inside('a')), withoutMount(git)),
    );
  });

  for (const git of ['read-only', 'writable'] as const) {
    it(`the hooks of a submodule, when .git is ${git}`, async () => {
      const library = join(arena.outside, 'library');
      execFileSync('git', ['init', '-q', library]);
      host(library, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x');
      makeRepository('.');
      host(arena.root, 'submodule', 'add', '-q', library, 'libs/one');
      const hooks = inside('.git/modules/libs/one/hooks');
      const without = git === 'writable' ? withoutMount(hooks) : withoutMount(inside('.git'));
      await resists(
        `echo evil > ${hooks}/x`,
        () => existsSync(join(hooks, 'x')),
        without,
        arena.policy({ git }),
      );
    });
  }

  it('the repository that a pointer file leads to inside the root', async () => {
    host(arena.root, 'init', '-q', '--separate-git-dir', inside('real'), inside('work'));
    await resists(
      `echo evil > real/hooks/x`,
      () => existsSync(inside('real/hooks/x')),
      withoutMount(inside('real')),
    );
  });

  it('the place that a pointer file leads to in vain', async () => {
    put('work/.git', 'gitdir: ../later\n');
    await resists(
      'mkdir -p later; echo evil > later/config',
      () => existsSync(inside('later/config')),
      withoutMount(inside('later')),
    );
  });

  it('the configuration of a bare repository', async () => {
    host(arena.root, 'init', '-q', '--bare', 'bare');
    const config = inside('bare/config');
    await resists(
      'echo evil >> bare/config',
      () => readFileSync(config, 'utf8').includes('evil'),
      withoutMount(config),
    );
  });

  it('the folder that core.hooksPath names, existing or not', async () => {
    makeRepository('.');
    host(arena.root, 'config', 'core.hooksPath', '.husky/_');
    const husky = inside('.husky');
    const script = 'mkdir -p .husky/_; echo evil > .husky/pre-commit';
    await resists(script, () => existsSync(join(husky, 'pre-commit')), withoutMount(husky));
    execFileSync('rm', ['-r', husky]);
    host(arena.root, 'config', 'core.hooksPath', 'tools/hooks');
    const hooks = dirname(put('tools/hooks/pre-commit'));
    await resists('echo evil > tools/hooks/x', () => existsSync(join(hooks, 'x')), withoutMount(hooks));
  });

  it('what the configuration includes, and programs that it names', async () => {
    makeRepository('.');
    const included = put('.gitsettings', '[include]\n\tpath = missing\n');
    const program = put('tools/diff.sh');
    host(arena.root, 'config', 'include.path', '../.gitsettings');
    host(arena.root, 'config', 'diff.external', './tools/diff.sh --fast');
    const changed = (path: string) => () => readFileSync(path, 'utf8').includes('evil');
    await resists(`echo evil >> ${included}`, changed(included), withoutMount(included));
    await resists(`echo evil >> ${program}`, changed(program), withoutMount(program));
    await resists(
      'mkdir -p missing; echo evil > missing/x',
      () => existsSync(inside('missing/x')),
      withoutMount(inside('missing')),
    );
  });

  for (const name of [
    '.vscode/tasks.json',
    '.idea/workspace.xml',
    '.claude/settings.json',
    '.cursor/mcp.json',
    '.mcp.json',
    '.devcontainer/devcontainer.json',
    '.envrc',
    '.gitmodules',
    '.gitconfig',
    '.bashrc',
    '.husky/pre-commit',
    'project.code-workspace',
  ]) {
    it(`an existing ${name}`, async () => {
      const path = put(name);
      const top = join(arena.root, name.split('/')[0] ?? '');
      const script = `echo evil > ${name}; mv ${top} away; rm -rf ${top}`;
      await resists(
        script,
        () => !existsSync(path) || readFileSync(path, 'utf8') !== 'original',
        withoutMount(top),
      );
    });
  }

  it('unless the person made that very place writable', async () => {
    put('.vscode/settings.json');
    put('.claude/settings.json');
    mkdirSync(inside('.claude/notes'));
    const policy = arena.policy({ writableRoots: [inside('.vscode'), inside('.claude/notes')] });
    const script = 'echo x > .vscode/tasks.json; echo x > .claude/notes/x; echo x > .claude/x';
    await arena.run(['/bin/sh', '-c', script], {}, policy);
    assert.deepEqual(
      ['.vscode/tasks.json', '.claude/notes/x', '.claude/x'].map((name) => existsSync(inside(name))),
      [true, true, false],
    );
  });

  it('what a protected name that is a link leads to, existing or not', async () => {
    put('settings/config.toml');
    symlinkSync('settings', inside('.codex'));
    symlinkSync('later', inside('.agents'));
    await resists(
      'echo evil > settings/x',
      () => existsSync(inside('settings/x')),
      withoutMount(inside('settings')),
    );
    await resists(
      'mkdir later; echo evil > later/x',
      () => existsSync(inside('later/x')),
      withoutMount(inside('later')),
    );
  });

  it('a file outside, through a hard link that exists in the root', async () => {
    const victim = join(arena.outside, 'victim');
    writeFileSync(victim, 'original');
    linkSync(victim, put('src/placeholder').replace('placeholder', 'linked'));
    linkSync(inside('src/placeholder'), inside('own'));
    const linked = inside('src/linked');
    await resists(
      'echo evil > src/linked',
      () => readFileSync(victim, 'utf8') !== 'original',
      withoutMount(linked),
    );
    await arena.shell('echo fine > own');
    assert.equal(readFileSync(inside('src/placeholder'), 'utf8'), 'fine\n');
  });

  it('when there are too many hard links to cover each: the folders that hold them', async () => {
    mkdirSync(inside('many/deep'), { recursive: true });
    for (let index = 0; index < 100; index += 1) {
      writeFileSync(join(arena.outside, `${index}`), 'original');
      linkSync(join(arena.outside, `${index}`), inside(`many/deep/${index}`));
    }
    await resists(
      'echo evil > many/deep/7',
      () => readFileSync(join(arena.outside, '7'), 'utf8') !== 'original',
      withoutMount(inside('many/deep')),
    );
    assert.equal((await arena.shell('echo fine > many/fine')).exitCode, 0);
  });
});

describe('What a command leaves for git to run is disarmed and told:', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  beforeEach(() => void (arena = new Arena()));
  afterEach(() => arena.dispose());

  const inside = (name: string): string => join(arena.root, name);
  const host = (folder: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  const mark = (): string => join(arena.folder, 'mark');
  /** Whether something on the machine, such as the editor, that runs git in a folder runs the attack. */
  const isArmed = (folder: string, ...args: string[]): boolean => {
    execFileSync('rm', ['-f', mark()]);
    const argv = ['-c', 'user.name=a', '-c', 'user.email=a@b', ...(args.length > 0 ? args : ['status'])];
    try {
      host(folder, ...argv);
    } catch {
      // Whether git succeeds does not matter.
    }
    return existsSync(mark());
  };
  /** Runs a script whose attack stands before the look after the run, and not after it. */
  const disarms = async (
    script: string,
    attack: () => boolean,
    policy: SandboxPolicy = arena.policy({ git: 'writable' }),
  ): Promise<readonly Finding[]> => {
    const launch = await arena.launch(['/bin/bash', '-ec', script], {}, policy);
    const outcome = await finished(start(launch.argv, launch.cwd, launch.env));
    assert.equal(outcome.exitCode, 0, outcome.stderr);
    assert.equal(attack(), true, 'the attack does not work at all');
    const findings = await launch.release();
    assert.equal(attack(), false, 'the attack still works after the run');
    assert.notDeepEqual(findings, []);
    return findings;
  };

  it('a hook in a new repository', async () => {
    const script = `git init -q new; printf '#!/bin/sh\ntouch ${mark()}' > new/.git/hooks/pre-commit; chmod +x new/.git/hooks/pre-commit`;
    const [found] = await disarms(
      script,
      () => isArmed(inside('new'), 'commit', '--allow-empty', '-m', 'x'),
      arena.policy(),
    );
    assert.equal(found?.path, inside('new/.git/hooks/pre-commit'));
    assert.match(readFileSync(found.path, 'utf8'), /touch/);
  });

  it('hooks of a new repository that lie elsewhere', async () => {
    const script = `git init -q new; rm -r new/.git/hooks; mkdir evil; printf '#!/bin/sh\ntouch ${mark()}' > evil/pre-commit; chmod +x evil/pre-commit; ln -s ../../evil new/.git/hooks`;
    await disarms(script, () => isArmed(inside('new'), 'commit', '--allow-empty', '-m', 'x'), arena.policy());
  });

  for (const settings of [
    'git -C new config core.fsmonitor "touch MARK"',
    'printf \'[core] fsmonitor = \\\\\\n"touch MARK"\\n\' >> new/.git/config',
    'printf "[core]\\nfsmonitor = touch MARK" > evil; git -C new config include.path ../../evil',
    'git -C new config extensions.worktreeConfig true; git -C new config --worktree core.fsmonitor "touch MARK"',
    'printf "[core]\\nrepositoryformatversion = 0\\nfsmonitor = touch MARK" > evil; ln -sf ../../evil new/.git/config',
  ]) {
    it(`settings of a new repository: ${settings}`, async () => {
      const script = `git init -q new; ${settings.replaceAll('MARK', mark())}`;
      const [found] = await disarms(script, () => isArmed(inside('new')), arena.policy());
      assert.match(found?.message ?? '', /disarmed/);
    });
  }

  it('a repository of its own in the root', async () => {
    const script = `git init -q; git config core.fsmonitor "touch ${mark()}"`;
    await disarms(script, () => isArmed(arena.root));
    assert.match(readFileSync(inside('.git/config'), 'utf8'), /# disarmed by Cordon: fsmonitor/);
    assert.match(readFileSync(inside('.git/config.disarmed'), 'utf8'), /\tfsmonitor/);
  });

  it('a planted bare repository', async () => {
    const script = `mkdir -p sub/objects sub/refs; echo "ref: refs/heads/main" > sub/HEAD; printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = ..\nfsmonitor = touch ${mark()}' > sub/config`;
    await disarms(script, () => isArmed(inside('sub')), arena.policy());
  });

  it('a new pointer to a folder that only looks like part of a repository', async () => {
    const script = `git init -q new; git init -q evil; mv evil/.git evil/x; git -C evil --git-dir=x config core.fsmonitor "touch ${mark()}"; rm -r new/.git; echo "gitdir: ../evil/x" > new/.git`;
    await disarms(script, () => isArmed(inside('new')), arena.policy());
  });

  it('the hooks of a new submodule and of a new worktree’s settings', async () => {
    host(arena.root, 'init', '-q');
    host(arena.root, 'config', 'extensions.worktreeConfig', 'true');
    host(arena.root, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x');
    const script = `git worktree add -q wt; git -C wt config --worktree core.fsmonitor "touch ${mark()}"`;
    await disarms(script, () => isArmed(inside('wt')));
    const module = `git init -q --bare .git/modules/m; git -C .git/modules/m config core.fsmonitor "touch ${mark()}"; git -C .git/modules/m config core.bare false; mkdir m; echo "gitdir: ../.git/modules/m" > m/.git`;
    await disarms(module, () => isArmed(inside('m')));
  });

  it('a command in the list of an interrupted rebase', async () => {
    host(arena.root, 'init', '-q', '-b', 'main');
    const script = `git config --global user.name a; git config --global user.email a@b; git commit -q --allow-empty -m 1; git commit -q --allow-empty -m 2; GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -qi HEAD~1; echo "exec touch ${mark()}" >> .git/rebase-merge/git-rebase-todo`;
    const todo = inside('.git/rebase-merge/git-rebase-todo');
    const isPlanted = (): boolean => /^exec/m.test(readFileSync(todo, 'utf8'));
    const argv = ['/bin/bash', '-ec', script];
    const env = { PATH: process.env['PATH'] ?? '', HOME: '/tmp' };
    const launch = await arena.launch(argv, { env }, arena.policy({ git: 'writable' }));
    assert.equal((await finished(start(launch.argv, launch.cwd, launch.env))).exitCode, 0);
    assert.equal(isPlanted(), true);
    const findings = await launch.release();
    assert.equal(isPlanted(), false);
    assert.equal(findings[0]?.what, 'rebase');
    assert.equal(isArmed(arena.root, 'rebase', '--continue'), false);
  });

  it('a link in the place of a protected name, which is put back', async () => {
    mkdirSync(inside('settings'));
    symlinkSync('settings', inside('.codex'));
    const script = 'rm .codex; mkdir .codex; echo evil > .codex/config.toml; ln -sfn /evil .codex';
    const launch = await arena.launch(['/bin/sh', '-c', script]);
    await finished(start(launch.argv, launch.cwd, launch.env));
    const [found] = await launch.release();
    assert.equal(readlinkSync(inside('.codex')), 'settings');
    assert.deepEqual([found?.path, found?.what], [inside('.codex'), 'replaced']);
  });

  it('a redirection of git, within the run already', async () => {
    host(arena.root, 'init', '-q');
    const policy = arena.policy({ git: 'writable' });
    const launch = await arena.launch(
      [
        '/bin/sh',
        '-c',
        'echo .. > .git/commondir; while test -e .git/commondir; do sleep 0.01; done; sleep 1000',
      ],
      {},
      policy,
    );
    const child = start(launch.argv, launch.cwd, launch.env);
    const ended = finished(child);
    await waitFor('the redirection to be taken away', () => existsSync(inside('.git/commondir.disarmed')));
    assert.equal(existsSync(inside('.git/commondir')), false);
    child.kill('SIGKILL');
    await ended;
    const [found] = await launch.release();
    assert.equal(found?.what, 'redirect');
  });

  it('a redirection of git, even when the runtime is not there any more', async () => {
    host(arena.root, 'init', '-q');
    const trap = inside('.git/commondir');
    const argv = ['/bin/sh', '-c', 'echo .. > .git/commondir; echo $?'];
    const launch = await arena.launch(argv, {}, arena.policy({ git: 'writable' }));
    // Nobody watches any more.
    await launch.release();
    assert.equal((await finished(start(launch.argv, launch.cwd, launch.env))).stdout, '0\n');
    await waitFor('the keeper', () => !existsSync(trap));
    const edited = removing('--trap', trapName(trap), trap)(launch.argv);
    await finished(start(edited, launch.cwd, launch.env));
    assert.ok(existsSync(trap));
  });

  it('new settings of a submodule, while its own address may change', async () => {
    const library = join(arena.outside, 'library');
    execFileSync('git', ['init', '-q', library]);
    host(library, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x');
    host(arena.root, 'init', '-q');
    host(arena.root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'lib');
    const policy = arena.policy({ git: 'writable' });
    const config = inside('.git/modules/lib/config');
    await arena.run(['git', '-C', 'lib', 'config', 'remote.origin.url', '/elsewhere'], {}, policy);
    assert.match(readFileSync(config, 'utf8'), /elsewhere/);
    await arena.run(['git', '-C', 'lib', 'config', 'core.fsmonitor', `touch ${mark()}`], {}, policy);
    assert.doesNotMatch(readFileSync(config, 'utf8'), /fsmonitor/);
    assert.match(readFileSync(`${config}.disarmed`, 'utf8'), /fsmonitor/);
    assert.equal(isArmed(inside('lib')), false);
  });

  it('without following links that a command puts in the way', async () => {
    const victim = join(arena.outside, 'program');
    writeFileSync(victim, '#!/bin/sh\n');
    chmodSync(victim, 0o755);
    const script = `git init -q a; ln -s ${victim} a/.git/hooks/pre-commit; git init -q b; rm -r b/.git/hooks; ln -s ${arena.outside} b/.git/hooks; ln -s ${arena.outside} c; mkdir d; ln -s ${arena.outside} d/.git`;
    const outcome = await arena.shell(script);
    assert.equal(outcome.exitCode, 0, outcome.stderr);
    assert.equal(statSync(victim).mode & 0o777, 0o755);
    assert.deepEqual(readdirSync(arena.outside), ['program']);
    assert.equal(existsSync(inside('b/.git/hooks')), false);
  });
});
