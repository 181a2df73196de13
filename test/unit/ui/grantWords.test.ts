import assert from 'node:assert/strict';
import type { Grant } from '../../../src/runtime/approvals/grant.ts';
import { grantDescription, grantEnd, grantLabel, grantOrigin } from '../../../src/ui/grants/grantWords.ts';

const now = new Date(2031, 4, 6, 14, 40);
const clock = (date: Date): string =>
  date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
const inAnHour = new Date(2031, 4, 6, 15, 40);
const tomorrow = new Date(2031, 4, 7, 9, 5);

const grant: Grant = {
  id: 'g1',
  root: '/w/app',
  what: { kind: 'path', path: '/srv/data', access: 'write' },
  lasts: 'root',
  grantedAt: now.getTime(),
  because: 'make\nall',
};

describe('the words of a grant', () => {
  it('name what is allowed', () => {
    assert.equal(grantLabel(grant), 'Writing to /srv/data');
    assert.equal(
      grantLabel({ what: { kind: 'host', host: 'example.org:443' } }),
      'Connections to example.org:443',
    );
    assert.equal(
      grantLabel({ what: { kind: 'prefix', words: ['npm', 'run\u202e'] } }),
      "Commands that begin with “npm 'run\\u{202e}'”",
    );
  });

  it('name the end', () => {
    assert.equal(grantEnd(grant, now), 'until revoked');
    assert.equal(grantEnd({ lasts: 'session' }, now), 'until this window closes or reloads');
    assert.equal(grantEnd({ lasts: 'root', until: inAnHour.getTime() }, now), `until ${clock(inAnHour)}`);
    assert.equal(
      grantEnd({ lasts: 'root', until: tomorrow.getTime() }, now),
      `until ${tomorrow.toLocaleDateString()}, ${clock(tomorrow)}`,
    );
    assert.equal(grantDescription(grant, 'app', now), 'app · until revoked');
  });

  it('name the command that it was granted for', () => {
    assert.equal(grantOrigin(grant, now), `granted at ${clock(now)} for “make ↵ all”`);
  });
});
