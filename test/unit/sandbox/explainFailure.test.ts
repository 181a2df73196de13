import assert from 'node:assert/strict';
import { appArmorProfile, explainFailure } from '../../../src/sandbox/linux/bubblewrap/explainFailure.ts';
import type { SystemFacts } from '../../../src/sandbox/linux/bubblewrap/systemFacts.ts';
import type { SandboxError } from '../../../src/sandbox/sandboxManager.ts';

const plain: SystemFacts = {
  isAppArmorRestricting: false,
  isCloneOff: false,
  limitedNamespaces: [],
  isFiltered: false,
};
const ubuntu = { ...plain, isAppArmorRestricting: true };

// Texts of bubblewrap 0.4 to 0.11 as programs and trackers show them.
const noPermission =
  'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. See <https://deb.li/bubblewrap> or <file:///usr/share/doc/bubblewrap/README.Debian.gz>.';
const exceeded =
  'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)';
const noAddress = 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted';

describe('explainFailure()', () => {
  const table: readonly (readonly [string, SystemFacts, SandboxError['kind'], RegExp])[] = [
    [noPermission, ubuntu, 'namespaces-apparmor', /profile/],
    ['bwrap: setting up uid map: Permission denied', ubuntu, 'namespaces-apparmor', /profile/],
    [noAddress, ubuntu, 'namespaces-apparmor', /profile/],
    [noAddress, plain, 'loopback-denied', /journalctl/],
    ['bwrap: loopback: Failed RTM_NEWLINK: Operation not permitted', plain, 'loopback-denied', /net_admin/],
    [noPermission, { ...plain, isCloneOff: true }, 'namespaces-switched-off', /unprivileged_userns_clone=1/],
    [noPermission, { ...plain, isFiltered: true }, 'namespaces-container', /seccomp=unconfined/],
    [
      'bwrap: Creating new namespace failed: Operation not permitted',
      { ...plain, isFiltered: true },
      'namespaces-container',
      /Docker/,
    ],
    [noPermission, plain, 'namespaces-refused', /chroot/],
    ['bwrap: pivot_root: Operation not permitted', plain, 'namespaces-refused', /chroot/],
    [exceeded, plain, 'namespaces-limit', /user\.max_user_namespaces=15000/],
    [
      exceeded,
      { ...plain, limitedNamespaces: ['max_net_namespaces'] },
      'namespaces-limit',
      /max_net_namespaces/,
    ],
    [
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      plain,
      'proc-unmountable',
      /systempaths/,
    ],
    ['bwrap: Unknown option --cap-drop', plain, 'bubblewrap-too-old', /0\.4/],
    ['bwrap: something new', plain, 'bubblewrap-failed', /bwrap --ro-bind/],
  ];
  for (const [stderr, system, kind, hint] of table) {
    const facts = Object.entries(system)
      .filter(([, value]) => value === true)
      .map(([name]) => name);
    it(`${kind}: ${stderr.slice(0, 60)}… ${facts.join(', ')}`, () => {
      const error = explainFailure({ stderr, exitCode: 1 }, '/usr/bin/bwrap', system);
      assert.equal(error.kind, kind);
      assert.match(error.hint, hint);
      assert.ok(error.message.includes(stderr), 'the words of bubblewrap itself are told');
    });
  }

  it('tells the exit code where bubblewrap says nothing', () => {
    assert.match(
      explainFailure({ stderr: '', exitCode: 77 }, '/usr/bin/bwrap', plain).message,
      /exit code 77/,
    );
  });
});

describe('appArmorProfile()', () => {
  it('is for the program that was found', () => {
    assert.match(
      appArmorProfile('/opt/bin/bwrap'),
      /^profile bwrap \/opt\/bin\/bwrap flags=\(unconfined\) \{\n {2}userns,\n\}$/m,
    );
  });
});
