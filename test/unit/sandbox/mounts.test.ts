import assert from 'node:assert/strict';
import type { Mount } from '../../../src/sandbox/linux/bubblewrap/mounts.ts';
import { mountArguments, orderMounts } from '../../../src/sandbox/linux/bubblewrap/mounts.ts';

const shown = (mounts: readonly Mount[]): string[] =>
  orderMounts(mounts).map(({ kind, path }) => `${kind} ${path}`);

describe('orderMounts()', () => {
  it('makes shallow mounts before deep ones, whatever the order given', () => {
    assert.deepEqual(
      shown([
        { path: '/w/sub/.git', kind: 'empty' },
        { path: '/w/sub', kind: 'write' },
        { path: '/w/.git', kind: 'read' },
        { path: '/w', kind: 'write' },
        { path: '/', kind: 'read' },
      ]),
      ['read /', 'write /w', 'write /w/sub', 'read /w/.git', 'empty /w/sub/.git'],
    );
  });

  it('lets protection win over opening, and opening over what the machine offers', () => {
    assert.deepEqual(
      shown([
        { path: '/w', kind: 'read' },
        { path: '/w', kind: 'write' },
        { path: '/tmp', kind: 'write' },
        { path: '/tmp', kind: 'scratch' },
      ]),
      ['read /w', 'write /tmp'],
    );
  });

  it('pins the folders between a writable mount and what lies deeper', () => {
    assert.deepEqual(
      shown([
        { path: '/', kind: 'read' },
        { path: '/w', kind: 'write' },
        { path: '/w/a/b/helper', kind: 'read' },
      ]),
      ['read /', 'write /w', 'write /w/a', 'write /w/a/b', 'read /w/a/b/helper'],
    );
  });

  it('does not open a folder below a read-only mount by pinning it', () => {
    assert.deepEqual(
      shown([
        { path: '/w', kind: 'write' },
        { path: '/w/.git', kind: 'read' },
        { path: '/w/.git/a/b', kind: 'write' },
      ]),
      ['write /w', 'read /w/.git', 'write /w/.git/a/b'],
    );
  });

  it('pins below a writable /', () => {
    assert.deepEqual(
      shown([
        { path: '/', kind: 'write' },
        { path: '/opt/x/y', kind: 'read' },
      ]),
      ['write /', 'write /opt', 'write /opt/x', 'read /opt/x/y'],
    );
  });
});

describe('mountArguments()', () => {
  const table: readonly (readonly [Mount, string])[] = [
    [{ path: '/dev', kind: 'devices' }, '--dev /dev'],
    [{ path: '/proc', kind: 'processes' }, '--proc /proc'],
    [{ path: '/tmp', kind: 'scratch' }, '--perms 1777 --tmpfs /tmp'],
    [{ path: '/w', kind: 'write' }, '--bind /w /w'],
    [{ path: '/run/x', kind: 'read', source: '/opt/x' }, '--ro-bind /opt/x /run/x'],
    [{ path: '/w/.git', kind: 'empty' }, '--tmpfs /w/.git --remount-ro /w/.git'],
  ];
  for (const [mount, expected] of table) {
    it(`is ${expected}`, () => assert.equal(mountArguments(mount, true).join(' '), expected));
  }

  it('leaves out --perms where bubblewrap does not know it', () => {
    assert.deepEqual(mountArguments({ path: '/tmp', kind: 'scratch' }, false), ['--tmpfs', '/tmp']);
  });
});
