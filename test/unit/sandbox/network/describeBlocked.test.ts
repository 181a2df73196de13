import assert from 'node:assert/strict';
import type { BlockedRequest } from '../../../../src/sandbox/network/blockedRequest.ts';
import { describeDenials } from '../../../../src/sandbox/describeDenial.ts';
import { policyOf } from '../../../harness/policyOf.ts';

describe('describeDenials() after refused requests', () => {
  const describeAfter = (blockedRequests: readonly BlockedRequest[]) =>
    describeDenials({
      output: 'cat: /etc/shadow: Permission denied',
      policy: policyOf('/w'),
      exitCode: 1,
      cwd: '/w',
      canonicalize: (path) => path,
      person: { may: () => true, needsCapability: () => false, isSocket: () => false },
      blockedRequests,
    });

  it('names the host, before anything that the output suggests', () => {
    const [denial, other, ...more] = describeAfter([
      { host: 'registry.example', port: 443, reason: 'allow-list', time: 0 },
      { host: '::1', port: 80, reason: 'local-address', time: 0 },
    ]);
    assert.equal(denial?.clause, 'hosts');
    assert.equal(denial.host, 'registry.example:443');
    assert.deepEqual([other?.host, denial.certainty, more[0]?.certainty], ['[::1]:80', 'known', 'likely']);
    assert.match(denial.message, /registry\.example:443 is not on the allow-list/);
    assert.match(denial.hint, /"registry\.example": "allow"/);
  });

  it('writes addresses as people do', () => {
    const [denial] = describeAfter([{ host: '::1', port: 80, reason: 'local-address', time: 0 }]);
    assert.match(denial?.message ?? '', /\[::1\]:80 is a local address/);
  });
});
