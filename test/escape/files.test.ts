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
import { Arena, all, withoutMount, writableMachine } from './harness.ts';

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
  const oneMount = (): Edit => all(writableMachine, withoutMount(arena.root));

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
    const without = all(writableMachine, withoutMount('/tmp'));
    await arena.shell(`echo x > ${name}`, { without });
    assert.equal(existsSync(name), true);
    execFileSync('rm', [name]);
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
      await arena.shell(above, { without: withoutMount(folder) });
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
      await arena.shell(script, { without: withoutMount(folder) });
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
        without: withoutMount(notes),
      });
      assert.match(outcome.stdout, /leases/);
      assert.ok(existsSync(join(notes, 'leases/x')));
    } finally {
      arena.dispose();
      runtime.dispose();
    }
  });
});
