import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { managedPolicyPath, readManagedPolicy } from '../../../../src/sandbox/policy/managedPolicy.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';

const isRoot = process.getuid?.() === 0;

describe('readManagedPolicy()', () => {
  let folder: TemporaryFolder;
  let path: string;
  beforeEach(async () => {
    folder = await createTemporaryFolder('managed');
    mkdirSync(join(folder.path, 'cordon'), { mode: 0o755 });
    path = join(folder.path, 'cordon/policy.json');
  });
  afterEach(() => folder.dispose());

  const problem = (): string => {
    const read = readManagedPolicy('linux', path);
    assert.ok(!read.ok, 'the file counts');
    assert.deepEqual([read.error.field, read.error.source], [path, 'managed']);
    assert.match(read.error.hint, /administrator/);
    return read.error.message;
  };

  it('is nothing where there is no file', () => {
    assert.deepEqual(readManagedPolicy('linux', path), { ok: true, value: undefined });
    assert.deepEqual(readManagedPolicy('linux', join(path, 'deeper')), { ok: true, value: undefined });
  });

  it('has a place on every platform that no ordinary user can write', () => {
    assert.equal(managedPolicyPath('linux'), '/etc/cordon/policy.json');
    assert.match(managedPolicyPath('darwin'), /^\/Library\//);
    assert.match(managedPolicyPath('win32'), /^C:\\Program Files\\/);
  });

  if (!isRoot) {
    it("does not take an ordinary user's file for the administrator's", () => {
      writeFileSync(path, '{}');
      assert.match(problem(), /belongs to user \d+ instead of root/);
    });
    return;
  }

  it('reads what the administrator wrote', () => {
    writeFileSync(path, '{ "network": "off" }', { mode: 0o644 });
    assert.deepEqual(readManagedPolicy('linux', path), { ok: true, value: { network: 'off' } });
  });

  it('refuses a file, or a folder around it, that others own or write', () => {
    const spoil: readonly (readonly [(place: string) => void, RegExp])[] = [
      [(place) => chownSync(place, 65_534, 65_534), /belongs to user 65534 instead of root/],
      [(place) => chmodSync(place, 0o775), /can be written by others/],
      [(place) => chmodSync(place, 0o757), /can be written by others/],
    ];
    for (const [change, message] of spoil) {
      for (const place of [path, join(folder.path, 'cordon')]) {
        writeFileSync(path, '{}', { mode: 0o644 });
        change(place);
        assert.match(problem(), message);
        chownSync(place, 0, 0);
        chmodSync(place, 0o755);
      }
    }
    assert.ok(readManagedPolicy('linux', path).ok);
  });

  it('refuses what is no policy, without waiting for it', () => {
    writeFileSync(path, '{', { mode: 0o644 });
    assert.match(problem(), /cannot be read: .*JSON/);
    path = join(folder.path, 'cordon/pipe');
    execFileSync('mkfifo', ['-m', '644', path]);
    assert.match(problem(), /not a file/);
    path = join(folder.path, 'cordon/link');
    symlinkSync(path, path);
    assert.match(problem(), /ELOOP/);
  });
});
