import assert from 'node:assert/strict';
import type { GateOptions } from '../../../../src/sandbox/network/gate.ts';
import { Gate } from '../../../../src/sandbox/network/gate.ts';
import { parseHost } from '../../../../src/sandbox/network/host.ts';
import type { HostPattern } from '../../../../src/sandbox/policy/hostRules.ts';

const answers: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.216.34', '2606:2800:220::1'],
  'sub.public.test': ['93.184.216.34'],
  'loopback.test': ['127.0.0.1'],
  'six.test': ['::1'],
  'translated.test': ['64:ff9b::7f00:1'],
  'private.test': ['10.1.2.3'],
  'metadata.test': ['169.254.169.254'],
  'mixed.test': ['127.0.0.1', '93.184.216.34', '10.0.0.1'],
  'odd.test': ['not an address'],
};

function patterns(...texts: readonly string[]): HostPattern[] {
  return texts.map((host) => ({ host }));
}

interface Asked {
  readonly outcome: string | readonly string[];
  readonly lookedUp: readonly string[];
  readonly decided: readonly string[];
}

async function ask(
  text: string,
  allow: readonly string[],
  deny: readonly string[] = [],
  answer?: 'allow' | 'deny',
  more: Partial<GateOptions> = {},
): Promise<Asked> {
  const lookedUp: string[] = [];
  const decided: string[] = [];
  const options: GateOptions = {
    rules: { allow: patterns(...allow), deny: patterns(...deny) },
    lookup: async (name) => {
      lookedUp.push(name);
      return answers[name] ?? Promise.reject(new Error('ENOTFOUND'));
    },
    ...more,
  };
  const host = parseHost(text);
  assert.ok(host);
  const decide = async (): Promise<'allow' | 'deny'> => {
    decided.push(host.name);
    return answer ?? 'deny';
  };
  const admitted = await new Gate(options).admit(host, 443, answer && decide);
  const outcome = admitted.ok
    ? admitted.value.addresses
    : (admitted.error.reason ?? admitted.error.code ?? '');
  return { outcome, lookedUp, decided };
}

describe('Gate', () => {
  const table: readonly (readonly [
    string,
    readonly string[],
    readonly string[],
    string | readonly string[],
  ])[] = [
    ['public.test', ['public.test'], [], ['93.184.216.34', '2606:2800:220::1']],
    ['public.test', [], [], 'allow-list'],
    ['public.test', ['*'], ['public.test'], 'deny-list'],
    ['sub.public.test', ['*.public.test'], ['*.public.test'], 'deny-list'],
    ['public.test', ['public.test'], ['93.184.0.0/16'], ['2606:2800:220::1']],
    ['public.test', ['public.test'], ['93.184.0.0/16', '2606::/16'], 'deny-list'],
    ['missing.test', ['missing.test'], [], 'ENOTFOUND'],
    ['odd.test', ['odd.test'], [], 'ENOTFOUND'],
    // No wildcard opens what is local.
    ['127.0.0.1', ['*'], [], 'local-address'],
    ['10.1.2.3', ['*'], [], 'local-address'],
    ['169.254.169.254', ['*'], [], 'local-address'],
    ['localhost', ['*'], [], 'local-address'],
    ['private.test', ['*.test'], [], 'local-address'],
    ['loopback.test', ['*.test'], [], 'local-address'],
    ['six.test', ['*'], [], 'local-address'],
    ['translated.test', ['translated.test'], [], 'local-address'],
    // A name opens the network around the machine, but never the machine: an address does.
    ['private.test', ['private.test'], [], ['10.1.2.3']],
    ['loopback.test', ['loopback.test'], [], 'local-address'],
    ['metadata.test', ['metadata.test'], [], 'local-address'],
    ['metadata.test', ['metadata.test', '169.254.169.254'], [], ['169.254.169.254']],
    ['loopback.test', ['loopback.test', '127.0.0.1'], [], ['127.0.0.1']],
    ['loopback.test', ['*.test', '127.0.0.0/8'], [], ['127.0.0.1']],
    ['127.0.0.1', ['127.0.0.1'], [], ['127.0.0.1']],
    ['127.0.0.1', ['127.0.0.1'], ['127.0.0.0/8'], 'deny-list'],
    ['10.9.9.9', ['10.0.0.0/8'], [], ['10.9.9.9']],
    ['localhost', ['localhost'], [], ['127.0.0.1', '::1']],
    ['db.localhost', ['db.localhost'], [], ['127.0.0.1', '::1']],
    ['db.localhost', ['*.localhost'], [], 'local-address'],
    ['mixed.test', ['*.test'], [], ['93.184.216.34']],
    ['mixed.test', ['mixed.test'], [], ['93.184.216.34', '10.0.0.1']],
  ];
  for (const [host, allow, deny, outcome] of table) {
    it(`${host}, allowed ${allow.join(' ') || 'nothing'}, denied ${deny.join(' ') || 'nothing'}: ${String(outcome)}`, async () => {
      assert.deepEqual((await ask(host, allow, deny)).outcome, outcome);
    });
  }

  it('looks no name up that is not allowed', async () => {
    assert.deepEqual((await ask('secret.evil.test', ['good.test'])).lookedUp, []);
    assert.deepEqual((await ask('a.test', ['*'], ['a.test'])).lookedUp, []);
    assert.deepEqual((await ask('public.test', [], [], 'deny')).lookedUp, []);
    assert.deepEqual((await ask('localhost', ['localhost'])).lookedUp, []);
  });

  it('looks a name up once and goes where the answer was', async () => {
    assert.deepEqual((await ask('public.test', ['*'])).lookedUp, ['public.test']);
  });

  it('asks the person about unknown hosts only, and never opens what is local for a yes', async () => {
    assert.deepEqual((await ask('public.test', [], [], 'allow')).outcome, answers['public.test']);
    assert.equal((await ask('public.test', [], [], 'deny')).outcome, 'allow-list');
    for (const name of ['private.test', 'loopback.test', 'metadata.test', 'translated.test']) {
      assert.equal((await ask(name, [], [], 'allow')).outcome, 'local-address');
    }
    for (const name of ['127.0.0.1', 'localhost', '10.0.0.1', '[::1]', '169.254.169.254']) {
      assert.deepEqual((await ask(name, [], [], 'allow')).decided, []);
    }
    assert.deepEqual((await ask('public.test', [], ['public.test'], 'allow')).decided, []);
    assert.deepEqual((await ask('public.test', ['*'], [], 'deny')).decided, []);
  });

  it('asks about allowed hosts to review, and about denied ones not', async () => {
    const more = { review: patterns('*', '0.0.0.0/0') };
    assert.deepEqual((await ask('public.test', ['*'], [], 'deny', more)).decided, ['public.test']);
    assert.equal((await ask('public.test', ['*'], [], 'deny', more)).outcome, 'allow-list');
    assert.equal((await ask('public.test', ['*'], [], undefined, more)).outcome, 'allow-list');
    assert.deepEqual((await ask('public.test', ['*'], [], 'allow', more)).outcome, answers['public.test']);
    assert.deepEqual((await ask('127.0.0.1', ['127.0.0.1'], [], 'allow', more)).decided, ['127.0.0.1']);
    assert.deepEqual((await ask('public.test', ['*'], ['public.test'], 'allow', more)).decided, []);
    assert.equal((await ask('loopback.test', ['*'], [], 'allow', more)).outcome, 'local-address');
  });

  it('lets no handshake lead to a host to review', () => {
    const options = { lookup: () => Promise.resolve([]), rules: { allow: patterns('*'), deny: [] } };
    const gate = new Gate({ ...options, review: patterns('asked.test') });
    assert.ok(gate.admitsServerName('other.test', { name: 'a.test' }, 443));
    assert.ok(!gate.admitsServerName('asked.test', { name: 'a.test' }, 443));
    assert.ok(gate.admitsServerName('asked.test', { name: 'asked.test' }, 443));
  });

  const locals = [
    ['address', 'private.test', ['private.test'], undefined, 'local-address'],
    ['address', 'private.test', ['private.test', '10.1.2.3'], undefined, ['10.1.2.3']],
    ['open', 'private.test', ['private.test'], undefined, ['10.1.2.3']],
    ['open', 'private.test', ['*.test'], undefined, 'local-address'],
    ['open', 'private.test', [], 'allow', ['10.1.2.3']],
    ['open', 'loopback.test', ['loopback.test'], undefined, ['127.0.0.1']],
    ['open', 'loopback.test', ['*'], undefined, 'local-address'],
    ['open', 'localhost', ['*'], undefined, ['127.0.0.1', '::1']],
    ['open', '127.0.0.1', ['*'], undefined, 'allow-list'],
    ['open', '127.0.0.1', [], 'allow', ['127.0.0.1']],
    ['open', 'metadata.test', ['metadata.test'], undefined, 'local-address'],
    ['open', '169.254.169.254', [], 'allow', 'local-address'],
    ['open', 'translated.test', ['translated.test'], undefined, 'local-address'],
  ] as const;
  for (const [localAddresses, host, allow, answer, outcome] of locals) {
    it(`with local addresses "${localAddresses}": ${host}, allowed ${allow.join(' ')}, answered ${answer}: ${String(outcome)}`, async () => {
      assert.deepEqual((await ask(host, allow, [], answer, { localAddresses })).outcome, outcome);
    });
  }

  it('compares the server name of a handshake with the host and with the rules', () => {
    const lookup = () => Promise.resolve([]);
    const rules = { allow: patterns('a.test', '*.cdn.test', '9.9.9.9'), deny: patterns('bad.cdn.test') };
    const gate = new Gate({ rules, lookup });
    const named = { name: 'a.test' };
    assert.ok(gate.admitsServerName('A.test', named, 443));
    assert.ok(gate.admitsServerName('x.cdn.test', named, 443));
    assert.ok(!gate.admitsServerName('other.test', named, 443));
    assert.ok(!gate.admitsServerName('bad.cdn.test', named, 443));
    assert.ok(!gate.admitsServerName('a.test\0', named, 443));
    const address = parseHost('9.9.9.9') ?? named;
    assert.ok(gate.admitsServerName('whatever.test', address, 443));
    assert.ok(!gate.admitsServerName('bad.cdn.test', address, 443));
  });
});
