import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MountPoints } from '../../../src/sandbox/linux/mountPoints.ts';
import { ownIdentity } from '../../../src/sandbox/linux/processIdentity.ts';
import { openRuntimeFolder } from '../../../src/sandbox/linux/runtimeFolder.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

describe('MountPoints', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let folder: TemporaryFolder;
  let runtime: string;
  let target: string;
  beforeEach(async () => {
    folder = await createTemporaryFolder('mounts');
    runtime = join(folder.path, 'runtime');
    target = join(folder.path, 'root', '.git');
    mkdirSync(runtime);
    mkdirSync(join(folder.path, 'root'));
  });
  afterEach(() => folder.dispose());

  const markers = (): string[] => readdirSync(join(runtime, 'mount-points'));
  const deadMarker = (paths: unknown): void => {
    const { namespace } = ownIdentity();
    writeFileSync(join(runtime, 'mount-points', `${process.pid}-1-${namespace}-0`), JSON.stringify(paths));
  };

  it('holds a missing name and removes it afterwards', async () => {
    const claim = await new MountPoints(runtime).claim([target]);
    assert.deepEqual([...claim.held], [target]);
    mkdirSync(target);
    await claim.release();
    assert.equal(existsSync(target), false);
    assert.deepEqual(markers(), []);
  });

  it('does not hold a folder of the user, even an empty one', async () => {
    mkdirSync(target);
    const claim = await new MountPoints(runtime).claim([target]);
    assert.deepEqual([...claim.held], []);
    await claim.release();
    assert.ok(existsSync(target));
  });

  it('does not remove what got contents', async () => {
    const claim = await new MountPoints(runtime).claim([target]);
    mkdirSync(join(target, 'objects'), { recursive: true });
    await claim.release();
    assert.ok(existsSync(join(target, 'objects')));
  });

  it('leaves a mount point to the other run that holds it, of this or another manager', async () => {
    const first = await new MountPoints(runtime).claim([target]);
    mkdirSync(target);
    const second = await new MountPoints(runtime).claim([target]);
    assert.deepEqual([...second.held], [target]);
    await first.release();
    assert.ok(existsSync(target));
    await second.release();
    assert.equal(existsSync(target), false);
  });

  it('sweeps what a dead process left, and nothing that a live one holds', async () => {
    const points = new MountPoints(runtime);
    const other = join(folder.path, 'root', '.vscode');
    mkdirSync(target);
    mkdirSync(other);
    deadMarker([target, other]);
    const child = spawn('sleep', ['60']);
    try {
      const { namespace } = ownIdentity();
      const stat = await import('node:fs').then(({ readFileSync }) =>
        readFileSync(`/proc/${child.pid}/stat`, 'latin1'),
      );
      const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
      writeFileSync(
        join(runtime, 'mount-points', `${child.pid}-${start}-${namespace}-0`),
        JSON.stringify([other]),
      );
      await points.sweep();
      assert.deepEqual([existsSync(target), existsSync(other)], [false, true]);
    } finally {
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
    }
    await points.sweep();
    assert.equal(existsSync(other), false);
    assert.deepEqual(markers(), []);
  });

  it('survives a marker that a crash cut off', async () => {
    const points = new MountPoints(runtime);
    writeFileSync(join(runtime, 'mount-points', `${process.pid}-1-${ownIdentity().namespace}-0`), '["/x');
    await points.sweep();
    assert.deepEqual(markers(), []);
  });

  it('takes over the lock of a dead process', async () => {
    symlinkSync(`${process.pid}-1-${ownIdentity().namespace}`, join(runtime, 'lock'));
    const claim = await new MountPoints(runtime).claim([target]);
    await claim.release();
    assert.deepEqual(readdirSync(runtime), ['mount-points']);
  });

  it('keeps 200 overlapping claims apart', async () => {
    const managers = [new MountPoints(runtime), new MountPoints(runtime)];
    const claims = await Promise.all(
      Array.from({ length: 200 }, (_, index) => managers[index % 2]?.claim([target]) ?? assert.fail()),
    );
    mkdirSync(target);
    await Promise.all(claims.map((claim) => claim.release()));
    assert.equal(existsSync(target), false);
    assert.deepEqual(markers(), []);
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
