import type { Architecture } from './architectures.ts';
import { arm64, x64 } from './architectures.ts';
import type { Line } from './assembler.ts';
import { assemble } from './assembler.ts';
import type { ArgumentTest, Refusal, Rule } from './rules.ts';
import { sandboxRules } from './rules.ts';

// struct seccomp_data of linux/seccomp.h, little-endian: the low half of argument n lies at 16 + 8n.
const numberOffset = 0;
const architectureOffset = 4;
const argumentOffset = (index: number): number => 16 + 8 * index;

// linux/seccomp.h
const allow = 0x7fff_0000;
const killProcess = 0x8000_0000;
const refuseWith = 0x0005_0000;
// asm-generic/errno*.h
const errnos: Readonly<Record<Refusal, number>> = {
  EPERM: 1,
  ENOTTY: 25,
  ENOSYS: 38,
  EOPNOTSUPP: 95,
  EAFNOSUPPORT: 97,
};

export interface FilterOptions {
  /** Calls from this number on are answered as by a kernel that does not know them. */
  readonly unknownFrom?: number;
}

/**
 * The seccomp program for the rules, for x86-64 and arm64 at once: a process of any other architecture (32-bit
 * programs included, whose call numbers mean something else) is killed at its first call.
 */
export function buildFilter(
  rules: readonly Rule[] = sandboxRules,
  { unknownFrom }: FilterOptions = {},
): Uint8Array {
  return assemble([
    { kind: 'load', offset: architectureOffset },
    ...[arm64, x64].flatMap((architecture) => [
      { kind: 'jump', test: 'equal', value: architecture.auditNumber, to: architecture.name } as const,
      { kind: 'goto', to: `other than ${architecture.name}` } as const,
      { kind: 'label', name: architecture.name } as const,
      ...architectureLines(architecture, rules, unknownFrom ?? architecture.otherAbiFrom),
      { kind: 'label', name: `other than ${architecture.name}` } as const,
    ]),
    { kind: 'return', value: killProcess },
  ]);
}

/** Rules per part of the program: each part has its refusals at its end, where a conditional jump reaches them. */
const rulesPerPart = 20;

function architectureLines(
  architecture: Architecture,
  rules: readonly Rule[],
  unknownFrom: number | undefined,
): Line[] {
  const lines: Line[] = [{ kind: 'load', offset: numberOffset }];
  if (unknownFrom !== undefined) {
    const known = `${architecture.name} known`;
    lines.push(
      { kind: 'jump', test: 'at-least', value: unknownFrom, otherwise: known },
      { kind: 'return', value: refuseWith | errnos.ENOSYS },
      { kind: 'label', name: known },
    );
  }
  for (let first = 0; first < rules.length; first += rulesPerPart) {
    lines.push(...partLines(architecture, rules.slice(first, first + rulesPerPart), first));
  }
  return [...lines, { kind: 'return', value: allow }];
}

function partLines(architecture: Architecture, rules: readonly Rule[], first: number): Line[] {
  const label = (name: string): string => `${architecture.name} ${first} ${name}`;
  const lines: Line[] = [];
  rules.forEach((rule, index) => {
    for (const call of rule.calls) {
      const number = architecture.calls[call];
      if (number === undefined) {
        continue;
      }
      if (rule.when === undefined) {
        lines.push({ kind: 'jump', test: 'equal', value: number, to: label(rule.refusal) });
        continue;
      }
      const after = label(`after ${index} ${call}`);
      const reload = label(`reload ${index} ${call}`);
      lines.push(
        { kind: 'jump', test: 'equal', value: number, otherwise: after },
        ...testLines(rule.when, label(rule.refusal), reload),
        { kind: 'label', name: reload },
        { kind: 'load', offset: numberOffset },
        { kind: 'label', name: after },
      );
    }
  });
  const refusals = new Set(rules.map(({ refusal }) => refusal));
  return [
    ...lines,
    { kind: 'goto', to: label('end') },
    ...[...refusals].flatMap((refusal): Line[] => [
      { kind: 'label', name: label(refusal) },
      { kind: 'return', value: refuseWith | errnos[refusal] },
    ]),
    { kind: 'label', name: label('end') },
  ];
}

/** All tests must hold to reach `whenAll`; the first that does not goes to `otherwise`. */
function testLines(tests: readonly ArgumentTest[], whenAll: string, otherwise: string): Line[] {
  return tests.flatMap(({ argument, is, value, mask }, index): Line[] => {
    const next = `${otherwise} after test ${index}`;
    const holds = index === tests.length - 1 ? whenAll : next;
    return [
      { kind: 'load', offset: argumentOffset(argument) },
      ...(mask === undefined ? [] : [{ kind: 'and', value: mask } as const]),
      is === 'not-equal'
        ? { kind: 'jump', test: 'equal', value, to: otherwise, otherwise: holds }
        : { kind: 'jump', test: is, value, to: holds, otherwise },
      { kind: 'label', name: next },
    ];
  });
}
