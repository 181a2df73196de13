import assert from 'node:assert/strict';
import { isWithin, parseAddress, parseRange } from '../../../../src/sandbox/policy/addresses.ts';
import { formatHostPattern, parseHostPattern } from '../../../../src/sandbox/policy/hostRules.ts';
import type { HostRules } from '../../../../src/sandbox/policy/hostRules.ts';
import { problemOf, resolved } from '../../../harness/pretendMachine.ts';

describe('parseHostPattern()', () => {
  const good: readonly (readonly [string, string])[] = [
    ['Example.ORG.', 'example.org'],
    ['*.Example.org:443', '*.example.org:443'],
    ['localhost:8080', 'localhost:8080'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['_srv.x', '_srv.x'],
    ['*', '*'],
    ['*:443', '*:443'],
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.0.0.0/8:22', '10.0.0.0/8:22'],
    ['1.2.3.4/32', '1.2.3.4'],
    ['::1', '[::1]'],
    ['[0:0::1]:80', '[::1]:80'],
    ['FD00::1/8', 'fd00::/8'],
    ['[fd00::/8]:22', '[fd00::/8]:22'],
    ['[fd00::]/8', 'fd00::/8'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
  ];
  for (const [text, written] of good) {
    it(`reads ${text} as ${written}, and that as itself`, () => {
      const pattern = parseHostPattern(text);
      assert.ok(pattern.ok, pattern.ok ? '' : pattern.error);
      assert.equal(formatHostPattern(pattern.value), written);
      assert.deepEqual(parseHostPattern(written), pattern);
    });
  }

  const bad: readonly (readonly [string, RegExp])[] = [
    ['https://example.org', /without scheme/],
    ['example.org/path', /without path/],
    ['user@example.org', /without scheme, user/],
    ['example.org:0', /port from 1 to 65535/],
    ['example.org:65536', /port/],
    ['example.org:https', /port/],
    ['[::1]:', /port/],
    ['', /a domain/],
    ['a..b', /a domain/],
    ['-a.b', /a domain/],
    ['a*.org', /a domain/],
    ['*.*.org', /a domain/],
    ['*.', /a domain/],
    ['127.1', /a domain/],
    ['0x7f000001', /a domain/],
    ['1.2.3.4.5', /a domain/],
    ['10.0.0.0/33', /range of addresses/],
    ['10.0.0.0/', /range of addresses/],
    ['fe80::1%eth0', /a domain/],
    ['a b', /host alone/],
  ];
  for (const [text, message] of bad) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const pattern = parseHostPattern(text);
      assert.ok(!pattern.ok, JSON.stringify(pattern));
      assert.match(pattern.error, message);
    });
  }
});

describe('address ranges', () => {
  it('contain each other by their first bits, in one family', () => {
    const within = (inner: string, outer: string): boolean => {
      const [one, other] = [parseRange(inner), parseRange(outer)];
      assert.ok(one !== undefined && other !== undefined);
      return isWithin(one, other);
    };
    assert.ok(within('10.1.0.0/16', '10.0.0.0/8'));
    assert.ok(within('10.1.0.0/16', '0.0.0.0/0'));
    assert.ok(!within('10.0.0.0/8', '10.1.0.0/16'));
    assert.ok(!within('11.0.0.0/16', '10.0.0.0/8'));
    assert.ok(within('fd12::1', 'fd00::/8'));
    assert.ok(!within('10.0.0.1', '::/0'));
  });

  it('read every way to write an IPv6 address', () => {
    const ways = ['1:0:0:0:0:0:102:304', '1::102:304', '1::1.2.3.4', '0001::0102:0304'];
    const values = new Set(ways.map((text) => parseAddress(text)?.value));
    assert.deepEqual([...values], [(1n << 112n) | 0x01020304n]);
  });
});

describe('the rules for hosts', () => {
  const hosts = (input: Parameters<typeof resolved>[0]): { allow: string[]; deny: string[] } => {
    const rules: HostRules = resolved(input).hosts;
    return { allow: rules.allow.map(formatHostPattern), deny: rules.deny.map(formatHostPattern) };
  };
  const own = {
    network: 'allow-list',
    hosts: { '*.a.org': 'allow', 'b.org': 'allow', '10.0.0.0/8': 'allow', 'x.a.org': 'deny' },
  } as const;

  it('let the stronger owner decide about an entry, however it is written', () => {
    assert.deepEqual(hosts({ user: own, grant: { hosts: { 'B.org.': 'deny', 'c.org': 'allow' } } }), {
      allow: ['*.a.org', '10.0.0.0/8', 'c.org'],
      deny: ['b.org', 'x.a.org'],
    });
  });

  it('deny what one owner allows and denies', () => {
    const both = { 'a.org': 'deny', 'A.org': 'allow' } as const;
    assert.deepEqual(hosts({ user: { hosts: both } }), { allow: [], deny: ['a.org'] });
  });

  it('leave to whoever narrows denials, and of what is allowed a part', () => {
    const narrowed = (listed: Readonly<Record<string, 'allow' | 'deny'>>) =>
      hosts({ user: own, workspace: { hosts: listed } });
    assert.deepEqual(narrowed({ 'c.org': 'deny' }).deny, ['x.a.org', 'c.org']);
    assert.deepEqual(narrowed({ 'c.org': 'deny' }).allow, ['*.a.org', 'b.org', '10.0.0.0/8']);
    const part = { 'y.a.org:443': 'allow', '*': 'allow', 'z.org': 'allow', '10.1.0.0/16': 'allow' } as const;
    assert.deepEqual(narrowed(part).allow, ['y.a.org:443', '*.a.org', 'b.org', '10.1.0.0/16']);
    assert.deepEqual(
      narrowed({ '*': 'allow' }).allow,
      ['*.a.org', 'b.org'],
      'a name for everything opens no address',
    );
    assert.deepEqual(narrowed({ 'a.org': 'allow' }).allow, []);
  });

  it('do not open addresses by a narrower list, where the person allowed names only', () => {
    const input = {
      user: { network: 'allow-list', hosts: { '*': 'allow' } },
      workspace: { hosts: { '10.0.0.1': 'allow' } },
    } as const;
    assert.deepEqual(hosts(input).allow, []);
  });

  it('make a list of an open network', () => {
    const input = { user: { network: 'on' }, managed: { hosts: { '10.0.0.1': 'allow', 'a.org': 'allow' } } };
    assert.deepEqual(hosts(input).allow, ['10.0.0.1', 'a.org']);
    const { network, sources } = resolved(input);
    assert.deepEqual([network, sources.network, sources.hosts], ['allow-list', 'managed', 'managed']);
    const denied = { user: { network: 'on' }, managed: { hosts: { 'a.org': 'deny' } } };
    assert.deepEqual(hosts(denied), { allow: ['*'], deny: ['a.org'] });
    const closed = { user: { network: 'on' }, managed: { network: 'allow-list' }, workspace: input.managed };
    assert.deepEqual(hosts(closed).allow, []);
  });

  it('allow a list of nothing', () => {
    assert.equal(resolved({ user: { network: 'allow-list' } }).network, 'allow-list');
  });

  it('name the entry that is wrong', () => {
    assert.match(problemOf({ user: { hosts: { 'http://x': 'allow' } } }).message, /hosts is "http:\/\/x"/);
    assert.match(
      problemOf({ grant: { hosts: { '*': 'deny' } } }).message,
      /hosts\.\* is "deny".*denied anyway/,
    );
    assert.equal(problemOf({ workspace: { hosts: { a_: 'maybe' } } }).field, 'cordon.sandbox.hosts.a_');
  });
});
