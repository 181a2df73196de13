import assert from 'node:assert/strict';
import { DenialScanner, isLikelyDenied } from '../../../src/sandbox/denial.ts';
import { describeDenial } from '../../../src/sandbox/describeDenial.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../../src/sandbox/policy/resolve.ts';
import { bareMachine } from '../../harness/policyOf.ts';

const keywords = [
  'operation not permitted',
  'permission denied',
  'read-only file system',
  'seccomp',
  'sandbox',
  'landlock',
  'failed to write file',
];

describe('isLikelyDenied()', () => {
  const table: readonly (readonly [string, number, boolean])[] = [
    ['touch: Read-only file system', 0, false],
    ['touch: Read-only file system', 1, true],
    ['touch: READ-ONLY FILE SYSTEM', 1, true],
    ['bash: ./x: Permission denied', 126, true],
    ['grep: usage', 2, false],
    ['not found', 127, false],
    ['', 159, true],
    ['', 137, false],
    ['EPERM: something', 1, false],
    ['EACCES', 1, false],
    ['network is unreachable', 1, false],
    ['Could not resolve host: example.org', 6, false],
    ['permission  denied', 1, false],
    ['sand box', 1, false],
  ];
  for (const [output, exitCode, expected] of table) {
    it(`is ${expected} for exit ${exitCode} after "${output}"`, () => {
      assert.equal(isLikelyDenied({ exitCode, output }), expected);
    });
  }

  it('is false where there is no sandbox', () => {
    assert.equal(isLikelyDenied({ sandbox: 'none', exitCode: 1, output: 'permission denied' }), false);
  });

  it('counts signs of a missing network only when the policy has it off', () => {
    const output = 'curl: (7) Failed to connect to 127.0.0.1 port 80: Could not connect to server';
    assert.equal(isLikelyDenied({ exitCode: 7, output }), false);
    assert.equal(isLikelyDenied({ exitCode: 7, output, isNetworkOff: true }), true);
    assert.equal(isLikelyDenied({ exitCode: 0, output, isNetworkOff: true }), false);
  });
});

describe('DenialScanner', () => {
  for (const keyword of keywords) {
    it(`finds "${keyword}" wherever it is split over chunks`, () => {
      const text = Buffer.from(`some output before ${keyword.toUpperCase()} and behind`);
      for (let cut = 0; cut <= text.length; cut += 1) {
        for (const second of [cut, Math.min(text.length, cut + 1), Math.min(text.length, cut + 5)]) {
          const scanner = new DenialScanner();
          [text.subarray(0, cut), text.subarray(cut, second), text.subarray(second)].forEach((part) =>
            scanner.push(part),
          );
          assert.ok(scanner.hasKeyword, `${cut} ${second}`);
        }
      }
    });
  }

  it('finds a keyword that comes byte by byte', () => {
    const scanner = new DenialScanner();
    for (const byte of Buffer.from('x\nfailed to write file\n')) scanner.push(Uint8Array.of(byte));
    assert.ok(scanner.hasKeyword);
  });

  it('finds nothing in bytes that only fold to a keyword', () => {
    const scanner = new DenialScanner();
    scanner.push(Buffer.from('sandbox').map((byte) => byte ^ 0x40));
    scanner.push(Buffer.from('sandbo\xf8', 'latin1'));
    assert.equal(scanner.hasKeyword, false);
  });

  it('agrees with a plain search on random text', () => {
    const pieces = [
      'sand',
      'box',
      'perm',
      'ission ',
      'denied',
      'sec',
      'comp',
      ' ',
      'X',
      'land',
      'lock',
      'operation ',
      'not permitted',
    ];
    for (let round = 0; round < 3_000; round += 1) {
      const chunks = Array.from({ length: 6 }, () => pieces[Math.floor(Math.random() * pieces.length)] ?? '');
      const scanner = new DenialScanner();
      chunks.forEach((chunk) => scanner.push(Buffer.from(chunk)));
      const text = chunks.join('').toLowerCase();
      assert.equal(
        scanner.hasKeyword,
        keywords.some((keyword) => text.includes(keyword)),
        text,
      );
    }
  });
});

describe('describeDenial()', () => {
  const policy = ((): SandboxPolicy => {
    const result = resolvePolicy({
      ...bareMachine,
      root: '/w/p',
      isTrusted: true,
      user: {},
    });
    assert.ok(result.ok);
    return result.value;
  })();

  const paths: readonly (readonly [string, string])[] = [
    [`touch: cannot touch '/root/x': Read-only file system`, '/root/x'],
    ['touch: cannot touch ‘/root/a b’: Read-only file system', '/root/a b'],
    ['/bin/sh: 1: cannot create /opt/denied: Read-only file system', '/opt/denied'],
    ['bash: line 1: /etc/x: Read-only file system', '/etc/x'],
    [`Error: EROFS: read-only file system, open '/var/x.log'`, '/var/x.log'],
    [`OSError: [Errno 30] Read-only file system: '/opt/y'`, '/opt/y'],
    [
      'noise\nbash: /first: Permission denied\nrm: cannot remove "/last/one": Read-only file system\nmore',
      '/last/one',
    ],
  ];
  for (const [output, path] of paths) {
    it(`finds ${path} in ${JSON.stringify(output)}`, () => {
      const denial = describeDenial({ output, policy });
      assert.equal(denial.path, path);
      assert.equal(denial.clause, 'writableRoots');
      assert.match(denial.message, /^The sandbox stopped the write to .*writes are limited to \/w\/p/);
      assert.match(denial.hint, /cordon\.sandbox\.writableRoots/);
    });
  }

  it('says "likely" for a permission that may have other reasons', () => {
    assert.match(describeDenial({ output: 'cat: /etc/shadow: Permission denied', policy }).message, /likely/);
  });

  it('names protected metadata inside a root', () => {
    const denial = describeDenial({
      output: 'sh: cannot create /w/p/.git/hooks/x: Read-only file system',
      policy,
    });
    assert.match(denial.message, /metadata/);
  });

  it('explains a read-only mode and an untrusted workspace', () => {
    const output = `touch: cannot touch '/w/p/x': Read-only file system`;
    const readOnly = { ...policy, mode: 'read-only' } as const;
    assert.equal(describeDenial({ output, policy: readOnly }).clause, 'mode');
    const untrusted = { ...readOnly, sources: { ...policy.sources, mode: 'untrusted' } } as const;
    assert.match(describeDenial({ output, policy: untrusted }).hint, /trust/);
  });

  it('explains a network that is off', () => {
    const output = 'curl: (7) Failed to connect to localhost port 8080';
    assert.equal(describeDenial({ output, policy, exitCode: 7 }).clause, 'network');
    assert.equal(
      describeDenial({ output, policy: { ...policy, network: 'on' }, exitCode: 7 }).clause,
      undefined,
    );
  });
});
