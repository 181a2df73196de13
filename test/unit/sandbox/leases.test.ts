import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keeperArguments } from '../../../src/sandbox/linux/keeper.ts';
import { Leases, leaseName, trapName } from '../../../src/sandbox/linux/leases.ts';
import { openLeaseFolder, openRuntimeFolder } from '../../../src/sandbox/linux/runtimeFolder.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

describe('Leases', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let folder: TemporaryFolder;
  let leases: Leases;
  let target: string;
  beforeEach(async () => {
    folder = await createTemporaryFolder('leases');
    leases = new Leases(folder.path);
    target = join(folder.path, '.git');
  });
  afterEach(() => folder.dispose());

  it('take an empty folder or file for a mount point only when a run has left a lease of it', () => {
    mkdirSync(target);
    assert.equal(leases.isMountPoint(target), false);
    writeFileSync(join(leases.folder, leaseName(target)), target);
    assert.equal(leases.isMountPoint(target), true);
    writeFileSync(join(target, 'HEAD'), '');
    assert.equal(leases.isMountPoint(target), false);
    const file = join(folder.path, '.gitmodules');
    writeFileSync(file, '');
    writeFileSync(join(leases.folder, leaseName(file)), file);
    assert.equal(leases.isMountPoint(file), true);
    writeFileSync(file, 'x');
    assert.equal(leases.isMountPoint(file), false);
  });

  it('take what is gone since it was seen for the mount point of a run that has ended', () => {
    assert.equal(leases.isMountPoint(target), true);
  });

  it('tell once what a keeper removed', () => {
    assert.equal(leases.takeNote(target), false);
    writeFileSync(join(leases.folder, trapName(target)), '');
    assert.deepEqual([leases.takeNote(target), leases.takeNote(target)], [true, false]);
  });

  it('are settled when the note of the run is gone', async () => {
    const note = join(leases.folder, 'run');
    assert.equal(await leases.settled('run'), true);
    writeFileSync(note, '');
    const state = { isSettled: false };
    const settled = leases.settled('run').then((result) => {
      state.isSettled = true;
      return result;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(state.isSettled, false);
    unlinkSync(note);
    assert.equal(await settled, true);
  });

  it('fail with what the companion program says', async () => {
    const run = async (): Promise<{ exitCode: number; stdout: string; stderr: string }> => ({
      exitCode: 125,
      stdout: '',
      stderr: 'cordon: folder of the leases\n',
    });
    await assert.rejects(leases.sweep('/nonexistent', run), /folder of the leases/);
  });
});

describe('keeperArguments()', () => {
  it('names the run first, and holds the folder of a control group once', () => {
    const words = keeperArguments({
      folder: '/leases',
      run: 'r',
      held: ['/r/.git'],
      masks: [{ path: '/r/.env', kind: 'hide' }],
      traps: ['/r/t'],
      groups: [
        { group: '/sys/fs/cgroup/x', file: 'pids.max', value: '9' },
        { group: '/sys/fs/cgroup/x', file: 'memory.max', value: '8' },
      ],
    });
    assert.deepEqual(words.slice(0, 6), ['--leases', '/leases', '--note', 'r', '--calls', 'r.calls']);
    assert.equal(words.filter((word) => word === '--hold').length, 2);
    const line = words.join(' ');
    assert.ok(line.includes(`--hold ${leaseName('/r/.git')} /r/.git`));
    assert.ok(line.includes('--group /sys/fs/cgroup/x pids.max 9'));
    assert.ok(line.includes('--hide /r/.env'));
    assert.ok(line.includes(`--trap ${trapName('/r/t')} /r/t`));
  });
});

describe('openRuntimeFolder()', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('makes a private folder below XDG_RUNTIME_DIR when that is private, otherwise in the temporary folder', async () => {
    const folder = await createTemporaryFolder('runtime');
    try {
      const open = join(folder.path, 'open');
      mkdirSync(open, { mode: 0o755 });
      const inSession = openRuntimeFolder({ XDG_RUNTIME_DIR: folder.path }, '/nonexistent');
      assert.deepEqual(inSession, { ok: true, value: join(folder.path, 'cordon') });
      const inTmp = openRuntimeFolder({ XDG_RUNTIME_DIR: open }, folder.path);
      assert.ok(inTmp.ok && inTmp.value.startsWith(join(folder.path, 'cordon-')));
    } finally {
      await folder.dispose();
    }
  });

  it('refuses a folder that others may enter, or a link in its place', async () => {
    const folder = await createTemporaryFolder('runtime');
    try {
      const name = join(folder.path, `cordon-${process.getuid?.()}`);
      symlinkSync('/', name);
      const result = openRuntimeFolder({}, folder.path);
      assert.ok(!result.ok && result.error.message.includes(name));
    } finally {
      await folder.dispose();
    }
  });
});

describe('openLeaseFolder()', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });
  const own = `cordon-${process.getuid?.()}`;

  it('is that of the session, or else in memory, or else in the temporary folder', async () => {
    const folder = await createTemporaryFolder('leases');
    const opened = (env: Record<string, string>, temporary: string, memory: string): string | undefined => {
      const result = openLeaseFolder(env, temporary, memory);
      return result.ok ? result.value : undefined;
    };
    try {
      assert.equal(opened({ XDG_RUNTIME_DIR: folder.path }, '/no', '/no'), join(folder.path, 'cordon'));
      assert.equal(opened({}, folder.path, '/no'), join(folder.path, own));
      // A disk, whatever it is called.
      assert.equal(opened({}, folder.path, '/usr'), join(folder.path, own));
      assert.equal(opened({}, folder.path, '/proc'), join(folder.path, own));
    } finally {
      await folder.dispose();
    }
  });

  it('is in memory where there is no session', function () {
    if (statfsSync('/dev/shm').type !== 0x01021994) this.skip();
    assert.deepEqual(openLeaseFolder({}, '/no'), { ok: true, value: `/dev/shm/${own}` });
  });

  it('takes no folder of the session in /dev, which no sandbox could see', function () {
    if (statfsSync('/dev/shm').type !== 0x01021994) this.skip();
    const session = mkdtempSync('/dev/shm/cordon-session-');
    const temporary = mkdtempSync(join(tmpdir(), 'cordon-runtime-'));
    try {
      const runtime = openRuntimeFolder({ XDG_RUNTIME_DIR: session }, temporary);
      assert.deepEqual(runtime, { ok: true, value: join(temporary, own) });
    } finally {
      rmSync(session, { recursive: true });
      rmSync(temporary, { recursive: true });
    }
  });
});
