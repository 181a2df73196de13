import assert from 'node:assert/strict';
import { companionMounts } from '../../../src/sandbox/linux/bubblewrap/companionMounts.ts';
import type { Mount } from '../../../src/sandbox/linux/bubblewrap/mounts.ts';

describe('companionMounts()', () => {
  const table: readonly (readonly [Mount, string])[] = [
    [{ path: '/', kind: 'read' }, 'read / /'],
    [{ path: '/', kind: 'shown' }, 'shown /'],
    [{ path: '/dev', kind: 'devices' }, 'write /dev /dev'],
    [{ path: '/proc', kind: 'processes' }, 'write /proc /proc'],
    [{ path: '/tmp', kind: 'scratch' }, 'scratch /tmp'],
    [{ path: '/run', kind: 'scratch' }, 'shown /run'],
    [{ path: '/w', kind: 'write' }, 'write /w /w'],
    [{ path: '/run/x', kind: 'read', source: '/opt/x' }, 'read /opt/x /run/x'],
    [{ path: '/bin', kind: 'link', source: 'usr/bin' }, 'link usr/bin /bin'],
    [{ path: '/home', kind: 'passage' }, 'passage /home'],
    [{ path: '/home/a', kind: 'step' }, 'step /home/a'],
    [{ path: '/home/a', kind: 'folder' }, 'folder /home/a'],
    [{ path: '/s', kind: 'closed' }, 'closed /s'],
    [{ path: '/s', kind: 'unreadable' }, 'unreadable /s'],
    [{ path: '/w/.git', kind: 'empty' }, 'empty /w/.git'],
  ];
  for (const [mount, expected] of table) {
    it(`says ${expected}`, () => assert.equal(companionMounts([mount]).join(' '), `--mounts ${expected}`));
  }
});
