import assert from 'node:assert/strict';
import { DenialScanner, isLikelyDenied } from '../../../src/sandbox/denials/likelyDenial.ts';

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
