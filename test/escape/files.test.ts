import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Edit } from './harness.ts';
import { trapName } from '../../src/sandbox/linux/leases.ts';
import { waitFor } from '../harness/waitFor.ts';
import { Arena, all, finished, start, removing, replacing } from './harness.ts';

const writableMachine = replacing(['--ro-bind', '/', '/'], ['--bind', '/', '/']);

describe('A command cannot write outside its root', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  let victim: string;
  beforeEach(() => {
    arena = new Arena();
    victim = join(arena.outside, 'victim');
    writeFileSync(victim, 'original');
  });
  afterEach(() => arena.dispose());

  const isUntouched = (): boolean =>
    readFileSync(victim, 'utf8') === 'original' && readdirSync(arena.outside).length === 1;

  it('directly', async () => {
    const script = `echo changed > ${victim}; echo new > ${arena.outside}/new`;
    assert.match((await arena.shell(script)).stderr, /Read-only file system/);
    assert.ok(isUntouched());
    await arena.shell(script, { without: writableMachine });
    assert.ok(!isUntouched());
  });

  it('through a symbolic link', async () => {
    symlinkSync(victim, join(arena.root, 'link'));
    assert.notEqual((await arena.shell('echo changed > link')).exitCode, 0);
    assert.ok(isUntouched());
    await arena.shell('echo changed > link', { without: writableMachine });
    assert.ok(!isUntouched());
  });

  // The root is a mount of its own, and hard links and renames do not cross mounts.
  const oneMount = (): Edit => all(writableMachine, removing('--bind', arena.root, arena.root));

  it('through a new hard link', async () => {
    const script = `ln ${victim} hard && echo changed > hard`;
    assert.match((await arena.shell(script)).stderr, /cross-device|Read-only/i);
    assert.ok(isUntouched());
    await arena.shell(script, { without: oneMount() });
    assert.ok(!isUntouched());
  });

  it('through a rename, in either direction', async () => {
    const script = `const fs = require('node:fs'); fs.writeFileSync('mine', 'changed'); fs.renameSync('mine', ${JSON.stringify(victim)})`;
    assert.match((await arena.node(script)).stderr, /EXDEV|EROFS/);
    assert.match(
      (await arena.node(`require('node:fs').renameSync(${JSON.stringify(victim)}, 'mine')`)).stderr,
      /EXDEV|EROFS/,
    );
    assert.ok(isUntouched());
    await arena.node(script, { without: oneMount() });
    assert.ok(!isUntouched());
  });

  it('by metadata: mode, times, truncation', async () => {
    for (const script of [
      `chmod 777 ${victim}`,
      `touch -d 1999-01-01 ${victim}`,
      `truncate -s 0 ${victim}`,
      `rm -f ${victim}`,
    ]) {
      assert.notEqual((await arena.shell(script)).exitCode, 0, script);
    }
    assert.ok(isUntouched());
    assert.equal((await arena.shell(`truncate -s 0 ${victim}`, { without: writableMachine })).exitCode, 0);
  });

  it('anywhere at all in read-only mode, its own root included', async () => {
    const policy = arena.policy({ mode: 'read-only' });
    const argv = ['/bin/sh', '-c', 'echo x > mine'];
    assert.match((await arena.run(argv, {}, policy)).stderr, /Read-only file system/);
    assert.deepEqual(readdirSync(arena.root), []);
    await arena.run(argv, { without: writableMachine }, policy);
    assert.deepEqual(readdirSync(arena.root), ['mine']);
  });

  it('in the machine’s /tmp, which is private', async () => {
    const name = `/tmp/cordon-escape-${process.pid}`;
    assert.equal((await arena.shell(`echo x > ${name} && cat ${name}`)).stdout, 'x\n');
    assert.equal(existsSync(name), false);
    const without = all(writableMachine, removing('--perms', '1777', '--tmpfs', '/tmp'));
    await arena.shell(`echo x > ${name}`, { without });
    assert.equal(existsSync(name), true);
    execFileSync('rm', [name]);
  });
});

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
    await arena.shell(script, { without: removing('--ro-bind', `${arena.root}/.git`, `${arena.root}/.git`) });
    assert.ok(existsSync(hook));
    assert.match(readFileSync(join(arena.root, '.git/config'), 'utf8'), /evil/);
  });

  it('by moving or deleting .git', async () => {
    git('init', '-q');
    await arena.shell('mv .git away; rm -rf .git');
    assert.ok(existsSync(join(arena.root, '.git/HEAD')));
    await arena.shell('mv .git away', {
      without: removing('--ro-bind', `${arena.root}/.git`, `${arena.root}/.git`),
    });
    assert.ok(existsSync(join(arena.root, 'away/HEAD')));
  });

  for (const name of ['.git', '.codex', '.agents', '.vscode', '.cordon']) {
    it(`by making a missing ${name}`, async () => {
      const script = `mkdir -p ${name}/hooks; echo evil > ${name}/hooks/x; rmdir ${name}; mv ${name} y; echo evil > ${name}`;
      await arena.shell(script);
      assert.deepEqual(readdirSync(arena.root), []);
      const path = join(arena.root, name);
      await arena.shell(script, { without: removing('--tmpfs', path, '--remount-ro', path) });
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
    await arena.run(argv, { without: removing('--ro-bind', repository, repository) }, policy);
    assert.ok(existsSync(join(repository, 'hooks/x')));
  });

  it('when it is a symbolic link, because then nothing runs', async () => {
    symlinkSync(arena.outside, join(arena.root, '.vscode'));
    const result = await arena.manager.transform(arena.policy(), {
      argv: ['true'],
      cwd: arena.root,
      env: {},
      tty: false,
    });
    assert.ok(!result.ok && result.error.kind === 'clause-unenforceable');
    assert.match(result.error.message, /\.vscode is a symbolic link/);
  });

  it('when a pointer file leads to nothing inside a root, because then nothing runs', async () => {
    writeFileSync(join(arena.root, '.git'), 'gitdir: later\n');
    const result = await arena.manager.transform(arena.policy(), {
      argv: ['true'],
      cwd: arena.root,
      env: {},
      tty: false,
    });
    assert.ok(!result.ok && result.error.kind === 'clause-unenforceable');
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
    await arena.run(argv, { without: removing('--ro-bind', `${folder}/hooks`, `${folder}/hooks`) }, policy);
    assert.ok(existsSync(join(folder, 'h/x')));
  });

  it('by redirecting git to hooks elsewhere, when the person made .git writable', async () => {
    git('init', '-q');
    const folder = join(arena.root, '.git');
    const policy = arena.policy({ writableRoots: [folder] });
    const trap = join(folder, 'commondir');
    const argv = ['/bin/sh', '-c', 'echo .. > .git/commondir; echo $?'];
    assert.equal((await arena.run(argv, {}, policy)).stdout, '0\n');
    assert.equal(existsSync(trap), false);
    // The keeper does it, even when the runtime is not there any more to do it.
    const launch = await arena.launch(argv, {}, policy);
    await finished(start(launch.argv, launch.cwd, launch.env));
    await waitFor('the keeper', () => !existsSync(trap));
    const edited = removing('--trap', trapName(trap), trap)(launch.argv);
    await finished(start(edited, launch.cwd, launch.env));
    assert.ok(existsSync(trap));
    await launch.release();
    assert.equal(existsSync(trap), false);
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
    await arena.run(argv, { without: removing('--tmpfs', hooks, '--remount-ro', hooks) }, policy);
    assert.ok(existsSync(join(hooks, 'pre-commit')));
  });
});

describe('A command cannot change what later runs trust', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('Cordon’s own launcher in a writable root, in place or by moving a folder above it', async () => {
    const source = new Arena();
    const helper = join(source.root, 'extension/dist/launch');
    mkdirSync(join(source.root, 'extension/dist'), { recursive: true });
    cpSync(join(import.meta.dirname, '../../dist/helper', `launch-linux-${process.arch}`), helper);
    const arena = new Arena({ writableRoots: [source.root] }, { helperPath: helper });
    try {
      const folder = join(source.root, 'extension');
      const inPlace = `echo evil > ${helper}; rm -f ${helper}; touch ${folder}/dist/x`;
      const above = `mv ${folder} ${folder}-old && mkdir -p ${folder}/dist`;
      await arena.shell(inPlace);
      await arena.shell(above);
      assert.deepEqual(readdirSync(join(folder, 'dist')), ['launch']);
      await arena.shell(above, { without: removing('--bind', folder, folder) });
      assert.equal(existsSync(helper), false);
    } finally {
      arena.dispose();
      source.dispose();
    }
  });

  it('the patch program that every session finds first, nor the folder that it runs from', async () => {
    const source = new Arena();
    const folder = join(source.root, 'extension');
    const program = join(folder, 'dist/bin/apply_patch');
    cpSync(join(import.meta.dirname, '../../dist/bin'), join(folder, 'dist/bin'), { recursive: true });
    const original = readFileSync(program, 'utf8');
    const arena = new Arena({ writableRoots: [source.root] }, { trustedPaths: [folder] });
    try {
      const script = [
        `echo evil > ${program}`,
        `mv ${program} ${program}-old`,
        `ln -sf /bin/true ${program}`,
        `echo evil > ${folder}/dist/cli.js`,
        `mv ${folder} ${folder}-old`,
      ].join('; ');
      await arena.shell(script);
      assert.equal(readFileSync(program, 'utf8'), original);
      assert.deepEqual(readdirSync(join(folder, 'dist')), ['bin']);
      await arena.shell(script, { without: removing('--ro-bind', folder, folder) });
      assert.equal(existsSync(folder), false);
    } finally {
      arena.dispose();
      source.dispose();
    }
  });

  it('Cordon’s leases of mount points, when /tmp is shared', async () => {
    const runtime = new Arena();
    const arena = new Arena(
      { tmp: 'shared', writableRoots: [runtime.folder] },
      { environment: { XDG_RUNTIME_DIR: runtime.folder } },
    );
    try {
      execFileSync('chmod', ['700', runtime.folder]);
      const notes = join(runtime.folder, 'cordon');
      const script = `ls ${notes}; echo '[]' > ${notes}/leases/x`;
      assert.equal((await arena.shell(script)).stdout, '');
      assert.equal(existsSync(join(notes, 'leases/x')), false);
      const outcome = await arena.shell(script, {
        without: removing('--perms', '0000', '--tmpfs', notes, '--remount-ro', notes),
      });
      assert.match(outcome.stdout, /leases/);
      assert.ok(existsSync(join(notes, 'leases/x')));
    } finally {
      arena.dispose();
      runtime.dispose();
    }
  });
});
