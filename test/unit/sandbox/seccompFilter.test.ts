import assert from 'node:assert/strict';
import type { Architecture, CallName } from '../../../src/sandbox/linux/seccomp/architectures.ts';
import { arm64, x64 } from '../../../src/sandbox/linux/seccomp/architectures.ts';
import { assemble } from '../../../src/sandbox/linux/seccomp/assembler.ts';
import { firstUnknownCall, landlockRules } from '../../../src/sandbox/linux/landlock/filterRules.ts';
import { buildFilter } from '../../../src/sandbox/linux/seccomp/filter.ts';
import { readDeniedCalls } from '../../../src/sandbox/linux/seccomp/deniedCalls.ts';
import { sandboxRules } from '../../../src/sandbox/linux/seccomp/rules.ts';

const allow = 0x7fff_0000;
const kill = 0x8000_0000;
const eperm = 0x0005_0001;
const enosys = 0x0005_0026;
const eafnosupport = 0x0005_0061;
const high = 0xdead_beef_0000_0000n;

/** Evaluates a classic BPF program the way the kernel does, on one call. */
function evaluate(program: Uint8Array, arch: number, nr: number, args: readonly bigint[] = []): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, nr >>> 0, true);
  data.setUint32(4, arch, true);
  args.forEach((value, index) => data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, value), true));
  const view = new DataView(program.buffer, program.byteOffset, program.length);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const code = view.getUint16(at * 8, true);
    const operand = view.getUint32(at * 8 + 4, true);
    const jump = (holds: boolean): number => view.getUint8(at * 8 + (holds ? 2 : 3));
    switch (code) {
      case 0x20:
        accumulator = data.getUint32(operand, true);
        break;
      case 0x54:
        accumulator = (accumulator & operand) >>> 0;
        break;
      case 0x15:
        at += jump(accumulator === operand);
        break;
      case 0x35:
        at += jump(accumulator >= operand);
        break;
      case 0x45:
        at += jump((accumulator & operand) !== 0);
        break;
      case 0x05:
        at += operand;
        break;
      case 0x06:
        return operand;
      default:
        throw new Error(`unknown instruction ${code}`);
    }
  }
  throw new Error('ran off the end');
}

describe('buildFilter()', () => {
  const filter = buildFilter();
  const run = (architecture: Architecture, call: CallName, ...args: bigint[]): number =>
    evaluate(filter, architecture.auditNumber, architecture.calls[call] ?? assert.fail(call), args);

  it('kills a process of any other architecture', () => {
    const i386 = 0x4000_0003;
    for (const arch of [0, i386, 0x4000_0028, 0xc000_00f3, 0xffff_ffff]) {
      assert.equal(evaluate(filter, arch, 1), kill);
    }
  });

  it('refuses the x32 range', () => {
    for (const number of [0x4000_0000, 0x4000_0000 + 165, 0xffff_ffff]) {
      assert.equal(evaluate(filter, x64.auditNumber, number), enosys);
    }
  });

  for (const architecture of [x64, arm64]) {
    describe(`on ${architecture.name}`, () => {
      it('refuses the calls of every rule without a test on arguments', () => {
        for (const rule of sandboxRules.filter(({ when }) => when === undefined)) {
          for (const call of rule.calls.filter((call) => architecture.calls[call] !== undefined)) {
            assert.equal(run(architecture, call), rule.refusal === 'ENOSYS' ? enosys : eperm, call);
          }
        }
      });

      it('allows every call that no rule names', () => {
        const named = new Set(Object.values(architecture.calls));
        for (let number = 0; number < 600; number += 1) {
          if (!named.has(number)) {
            assert.equal(evaluate(filter, architecture.auditNumber, number), allow, String(number));
          }
        }
      });

      const table: readonly (readonly [string, CallName, readonly bigint[], number])[] = [
        ['a thread', 'clone', [0x3d0f00n], allow],
        ['fork', 'clone', [0x1200011n], allow],
        ['a new user namespace', 'clone', [0x1000_0011n], eperm],
        ['a new mount namespace', 'clone', [0x0002_0011n], eperm],
        ['a new network namespace', 'clone', [0x4000_0011n], eperm],
        ['unsharing files', 'unshare', [0x400n], allow],
        ['unsharing users', 'unshare', [0x1000_0000n], eperm],
        ['unsharing time', 'unshare', [0x80n], eperm],
        ['clone3', 'clone3', [], enosys],
        ['ptrace of a child', 'ptrace', [16n, 7n], allow],
        ['ptrace of process 1', 'ptrace', [16n, 1n], eperm],
        ['ptrace of process 1 with high bits', 'ptrace', [16n, high + 1n], eperm],
        ['reading memory of a child', 'process_vm_readv', [7n], allow],
        ['writing memory of process 1', 'process_vm_writev', [1n], eperm],
        ['asking for the personality', 'personality', [0xffff_ffffn], allow],
        ['no address randomisation', 'personality', [0x0004_0000n], allow],
        ['readable memory that is executable', 'personality', [0x0040_0000n], eperm],
        ['mapping page 0', 'personality', [high + 0x0010_0000n], eperm],
        ['TCGETS', 'ioctl', [0n, 0x5401n], allow],
        ['TIOCSTI', 'ioctl', [0n, 0x5412n], eperm],
        ['TIOCSTI with high bits', 'ioctl', [0n, high + 0x5412n], eperm],
        ['TIOCLINUX', 'ioctl', [0n, 0x541cn], eperm],
        ['a Unix socket', 'socket', [1n, 1n, 0n], allow],
        ['an IPv4 socket', 'socket', [2n, 1n, 6n], allow],
        ['an IPv6 socket', 'socket', [10n, 2n, 17n], allow],
        ['netlink route', 'socket', [16n, 3n, 0n], allow],
        ['netlink netfilter', 'socket', [16n, 3n, 12n], eafnosupport],
        ['a packet socket', 'socket', [17n, 3n, 0n], eafnosupport],
        ['AF_ALG', 'socket', [38n, 5n, 0n], eafnosupport],
        ['vsock', 'socket', [40n, 1n, 0n], eafnosupport],
        ['family 0', 'socket', [0n, 1n, 0n], eafnosupport],
      ];
      for (const [what, call, args, expected] of table) {
        it(`${expected === allow ? 'allows' : 'refuses'} ${what}`, () => {
          assert.equal(run(architecture, call, ...args), expected);
        });
      }
    });
  }

  it('without a rule allows what only that rule refused', () => {
    const open = buildFilter(sandboxRules.filter(({ name }) => name !== 'TIOCSTI'));
    assert.equal(evaluate(open, x64.auditNumber, 16, [0n, 0x5412n]), allow);
    assert.equal(evaluate(open, x64.auditNumber, 16, [0n, 0x541cn]), eperm);
  });
});

describe('assemble()', () => {
  it('throws on an unknown label, a jump backwards and one too far', () => {
    const back = [
      { kind: 'label', name: 'a' },
      { kind: 'jump', test: 'equal', value: 1, to: 'a' },
    ] as const;
    const far = [
      { kind: 'jump', test: 'equal', value: 1, to: 'end' },
      ...Array.from({ length: 256 }, () => ({ kind: 'load', offset: 0 }) as const),
      { kind: 'label', name: 'end' },
    ] as const;
    assert.throws(
      () => assemble([{ kind: 'jump', test: 'equal', value: 1, to: 'nowhere' }]),
      /no label nowhere/,
    );
    assert.throws(() => assemble(back), /-1 lines away/);
    assert.throws(() => assemble(far), /256 lines away/);
  });
});

describe('buildFilter(landlockRules())', () => {
  const filters = {
    off: buildFilter(landlockRules('off'), { unknownFrom: firstUnknownCall }),
    on: buildFilter(landlockRules('on'), { unknownFrom: firstUnknownCall }),
  };
  const errnos = { EPERM: 1, ENOTTY: 25, ENOSYS: 38, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 } as const;

  for (const architecture of [x64, arm64]) {
    const run = (network: 'off' | 'on', call: CallName, ...args: bigint[]): number =>
      evaluate(
        filters[network],
        architecture.auditNumber,
        architecture.calls[call] ?? assert.fail(call),
        args,
      );

    describe(`on ${architecture.name}`, () => {
      it('refuses the calls of every rule without a test on arguments', () => {
        for (const network of ['off', 'on'] as const) {
          for (const rule of landlockRules(network).filter(({ when }) => when === undefined)) {
            for (const call of rule.calls.filter((name) => architecture.calls[name] !== undefined)) {
              assert.equal(run(network, call), 0x0005_0000 | errnos[rule.refusal], call);
            }
          }
        }
      });

      it('allows every call that no rule names, and none that is newer', () => {
        const named = new Set(Object.values(architecture.calls));
        for (let number = 0; number < firstUnknownCall; number += 1) {
          if (!named.has(number)) {
            assert.equal(evaluate(filters.off, architecture.auditNumber, number), allow);
          }
        }
        for (const number of [firstUnknownCall, firstUnknownCall + 1, 0x4000_0000, 0xffff_ffff]) {
          assert.equal(evaluate(filters.off, architecture.auditNumber, number), enosys);
        }
      });

      const table: readonly (readonly [CallName, readonly bigint[], off: number, on: number])[] = [
        ['socket', [1n, 1n, 0n], eafnosupport, eafnosupport],
        ['socket', [2n, 2n, 0n], eafnosupport, allow],
        ['socket', [10n, 1n, 0n], eafnosupport, allow],
        ['socket', [16n, 3n, 0n], eafnosupport, allow],
        ['socket', [16n, 3n, 12n], eafnosupport, eafnosupport],
        ['socket', [high | 17n, 3n, 0n], eafnosupport, eafnosupport],
        ['connect', [3n], eperm, allow],
        ['socketpair', [1n, 1n], allow, allow],
        ['socketpair', [1n, 0x80801n], allow, allow],
        ['socketpair', [1n, 5n], allow, allow],
        ['socketpair', [1n, 2n], 0x0005_005f, 0x0005_005f],
        ['socketpair', [1n, high | 0x80802n], 0x0005_005f, 0x0005_005f],
        ['socketpair', [1n, 3n], 0x0005_005f, 0x0005_005f],
        ['socketpair', [30n, 1n], eafnosupport, eafnosupport],
        ['prlimit64', [0n], allow, allow],
        ['prlimit64', [high], allow, allow],
        ['prlimit64', [77n], eperm, eperm],
        ['setpriority', [0n, 0n], allow, allow],
        ['setpriority', [0n, 77n], eperm, eperm],
        ['setpriority', [2n, 0n], eperm, eperm],
        ['ioprio_set', [1n, 0n], allow, allow],
        ['ioprio_set', [3n, 0n], eperm, eperm],
        ['ioctl', [0n, 0x5401n], allow, allow],
        ['ioctl', [0n, 0x541bn], allow, allow],
        ['ioctl', [0n, 0x5412n], eperm, eperm],
        ['ioctl', [0n, high | 0x5412n], eperm, eperm],
        ['ioctl', [0n, 0x8933n], 0x0005_0019, allow],
        ['ioctl', [0n, 0x4008_6602n], 0x0005_0019, 0x0005_0019],
        ['ioctl', [0n, 0x5000_940en], 0x0005_0019, 0x0005_0019],
      ];
      for (const [call, args, off, on] of table) {
        it(`${call}(${args.map((arg) => arg.toString(16)).join(', ')})`, () => {
          assert.equal(run('off', call, ...args), off);
          assert.equal(run('on', call, ...args), on);
        });
      }
    });
  }
});

describe('readDeniedCalls()', () => {
  it('names the calls of each architecture', () => {
    const text = (architecture: Architecture): string =>
      `${architecture.calls.mount} 0\n${architecture.calls.socket} 38\n999 7\n`;
    for (const architecture of [x64, arm64]) {
      assert.deepEqual(readDeniedCalls(text(architecture), architecture), [
        { call: 'mount', detail: 0 },
        { call: 'socket', detail: 38 },
        { call: 'number 999', detail: 7 },
      ]);
    }
    assert.deepEqual(readDeniedCalls(''), []);
  });

  it('and the companion, which answers them, knows every error but the one of sockets as EPERM', () => {
    for (const { calls, refusal } of sandboxRules) {
      const isHeard = refusal === 'EPERM' || refusal === 'EAFNOSUPPORT';
      assert.ok(!isHeard || calls.every((call) => (call === 'socket') === (refusal === 'EAFNOSUPPORT')));
    }
  });
});
