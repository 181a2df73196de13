import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import type { Address } from '../../../../src/sandbox/policy/addresses.ts';
import { formatAddress, parseAddress, parseRange } from '../../../../src/sandbox/policy/addresses.ts';
import type { AddressClass } from '../../../../src/sandbox/network/addressClass.ts';
import { classifyAddress } from '../../../../src/sandbox/network/addressClass.ts';
import { formatPlace, parseHost } from '../../../../src/sandbox/network/host.ts';
import { HostMatcher } from '../../../../src/sandbox/network/matchHost.ts';
import type { HostPattern } from '../../../../src/sandbox/policy/hostRules.ts';

function addressOf(text: string): Address {
  const address = parseAddress(text);
  assert.ok(address, text);
  return address;
}

describe('parseHost()', () => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    'example.org': ['example.org', 'EXAMPLE.org', 'example.org.', 'ｅｘａｍｐｌｅ.org', 'example。org'],
    'xn--bcher-kva.example': ['bücher.example', 'BÜCHER.example', 'xn--bcher-kva.example'],
    localhost: ['localhost', 'LocalHost.', 'ⓛocalhost'],
    '127.0.0.1': [
      ...['127.0.0.1', '127.1', '127.0.1', '0x7f.1', '0x7f000001', '2130706433', '0177.0.0.01', '127.0.0.1.'],
      ...[
        '[::ffff:127.0.0.1]',
        '::ffff:7f00:1',
        '[0:0:0:0:0:FFFF:7F00:0001]',
        '１２７.0.0.1',
        '127。0。0。1',
      ],
    ],
    '169.254.169.254': ['0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '::ffff:169.254.169.254'],
    '::1': ['::1', '[::1]', '0:0:0:0:0:0:0:1', '[::0.0.0.1]'],
    '2001:db8::a': ['2001:DB8:0:0::A', '[2001:db8::a]', '2001:0db8::000a'],
  };
  for (const [name, texts] of Object.entries(spellings)) {
    for (const text of texts) {
      it(`takes ${text} for ${name}`, () => assert.equal(parseHost(text)?.name, name));
    }
  }

  const impossible = [
    ...[
      '',
      '.',
      'a..b',
      '..',
      'a b',
      'a\tb',
      'a\nb',
      'a\r\nHost: b',
      'a\0b',
      'user@host',
      'a/b',
      'a?b',
      'a#b',
    ],
    ...[
      'a\\b',
      'a%2eb',
      '%6cocalhost',
      '[example.org]',
      '[::1',
      '::1]',
      '::g',
      'fe80::1%eth0',
      '[fe80::1%25eth0]',
    ],
    ...['1.2.3.4.5', '256.256.256.256', '0x1ffffffff', 'a:80', 'a'.repeat(64) + '.b'.repeat(120), 'a<b'],
  ];
  for (const text of impossible) {
    it(`refuses ${JSON.stringify(text.slice(0, 40))}`, () => assert.equal(parseHost(text), undefined));
  }

  it('brings addresses and places back into the usual notation', () => {
    for (const text of ['10.2.3.4', '::1', '64:ff9b::a9fe:a9fe', 'fe80::1', '2001:db8:0:1::2']) {
      assert.equal(formatAddress(addressOf(text)), text);
    }
    assert.equal(formatPlace(parseHost('::1') ?? { name: '' }, 80), '[::1]:80');
    assert.equal(formatPlace({ name: 'a.b' }, 80), 'a.b:80');
  });
});

describe('HostMatcher', () => {
  const table: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
    [
      'example.org',
      ['example.org', 'EXAMPLE.ORG.'],
      ['www.example.org', 'example.org.evil.test', 'xexample.org'],
    ],
    [
      '*.example.org',
      ['www.example.org', 'a.b.example.org'],
      ['example.org', 'wwwexample.org', 'www.example.org.evil.test'],
    ],
    ['*', ['anything.test'], ['8.8.8.8', '::1']],
    ['bücher.example', ['xn--bcher-kva.example', 'BÜCHER.example'], ['bucher.example']],
    ['*.bücher.example', ['a.xn--bcher-kva.example'], ['bücher.example']],
    [
      '10.0.0.0/8',
      ['10.0.0.1', '10.255.255.255', '::ffff:10.1.2.3', '0x0a000001'],
      ['11.0.0.1', '9.255.255.255'],
    ],
    ['192.168.128.0/17', ['192.168.128.1', '192.168.255.1'], ['192.168.127.255']],
    ['0.0.0.0/0', ['1.2.3.4'], ['2001:db8::1', 'a.test']],
    ['127.0.0.1', ['127.1', '2130706433', '::ffff:7f00:1'], ['127.0.0.2', 'localhost', '::1']],
    ['[::1]', ['::1', '[0::1]'], ['127.0.0.1', '::2']],
    ['[fd00::]/8', ['fd12:3456::1'], ['fe00::1']],
    ['::ffff:10.0.0.0/104', ['10.1.2.3', '::ffff:a00:1'], ['11.0.0.1']],
    ['fd00::/8', ['fd12:3456::1'], ['fc00::1']],
  ];
  for (const [host, yes, no] of table) {
    const matcher = new HostMatcher({ allow: [{ host }], deny: [{ host }] });
    for (const text of [...yes, ...no]) {
      it(`${host} ${yes.includes(text) ? 'has' : 'has not'} ${text}`, () => {
        const asked = parseHost(text);
        assert.ok(asked);
        assert.equal(matcher.isListed(asked, 443), yes.includes(text));
        assert.equal(matcher.isDenied(asked, 443), yes.includes(text));
        assert.equal(matcher.isNamed(asked, 443), yes.includes(text) && !host.startsWith('*'));
      });
    }
  }

  it('compares ports', () => {
    const matcher = new HostMatcher({ allow: [{ host: 'a.test', port: 22 }], deny: [] });
    assert.ok(matcher.isListed({ name: 'a.test' }, 22));
    assert.ok(!matcher.isListed({ name: 'a.test' }, 443));
  });

  it('denies, but does not allow, what a translator carries to an address', () => {
    const rules = [{ host: '6.6.6.6' }];
    const matcher = new HostMatcher({ allow: rules, deny: rules });
    for (const text of ['64:ff9b::606:606', '2002:606:606::1', '::6.6.6.6']) {
      const host = parseHost(text) ?? { name: '' };
      assert.ok(matcher.isDenied(host, 80), text);
      assert.ok(!matcher.isListed(host, 80) && !matcher.isNamed(host, 80), text);
    }
    assert.ok(!matcher.isDenied(parseHost('64:ff9b::606:607') ?? { name: '' }, 80));
  });

  for (const host of ['', '*.*', 'a*b', '*.10.0.0.1', '10.0.0.0/33', 'a/8', 'a b', 'http://a']) {
    it(`refuses the pattern ${JSON.stringify(host)}`, () => {
      const rules: HostPattern[] = [{ host }];
      assert.throws(() => new HostMatcher({ allow: rules, deny: [] }), /neither a host/);
      assert.throws(() => new HostMatcher({ allow: [], deny: rules }), /neither a host/);
    });
  }

  it('knows ranges from what only looks like one', () => {
    for (const text of ['10.0.0.0/x', '10.0.0/8', '::/129', '10.0.0.0/8/8']) {
      assert.equal(parseRange(text), undefined);
    }
  });
});

describe('classifyAddress()', () => {
  const classes: Readonly<Record<AddressClass, readonly string[]>> = {
    public: [
      '8.8.8.8',
      '2606:4700::1111',
      '172.15.0.1',
      '172.32.0.1',
      '100.63.0.1',
      '169.253.1.1',
      '11.0.0.1',
    ],
    private: [
      ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '198.18.0.1', 'fd12::1'],
      ...['64:ff9b::a00:1', '2002:c0a8:101::1', '::ffff:10.0.0.1', '64:ff9b:1::a00:1'],
    ],
    machine: [
      ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '0.1.2.3', '169.254.169.254', '224.0.0.1', '255.255.255.255'],
      ...[
        '::',
        '::1',
        '::127.0.0.1',
        'fe80::1',
        'fec0::1',
        'ff02::1',
        '::ffff:127.0.0.1',
        '::ffff:0:127.0.0.1',
      ],
      ...[
        '64:ff9b::7f00:1',
        '64:ff9b::a9fe:a9fe',
        '2002:7f00:1::1',
        '2002:a9fe:a9fe::',
        '2001::1',
        '192.0.2.1',
      ],
      ...['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', '240.0.0.1', '192.0.0.192'],
    ],
  };
  for (const [kind, texts] of Object.entries(classes)) {
    for (const text of texts) {
      it(`takes ${text} for ${kind}`, () => {
        assert.equal(classifyAddress(addressOf(text)), kind);
      });
    }
  }

  it('takes every address of an interface of this machine for the machine', () => {
    const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    assert.ok(own.length > 0);
    for (const { address } of own) {
      const parsed = parseAddress(address.replace(/%.*/, ''));
      assert.equal(parsed && classifyAddress(parsed), 'machine', address);
    }
  });
});
