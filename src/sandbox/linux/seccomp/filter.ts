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
const errnos: Readonly<Record<Refusal, number>> = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 };

/**
 * The seccomp program for the rules, for x86-64 and arm64 at once: a process of any other architecture (32-bit
 * programs included, whose call numbers mean something else) is killed at its first call.
 */
export function buildFilter(rules: readonly Rule[] = sandboxRules): Uint8Array {
  return assemble([
    { kind: 'load', offset: architectureOffset },
    { kind: 'jump', test: 'equal', value: arm64.auditNumber, otherwise: 'other than arm64' },
    ...architectureLines(arm64, rules),
    { kind: 'label', name: 'other than arm64' },
    { kind: 'jump', test: 'equal', value: x64.auditNumber, otherwise: 'unknown architecture' },
    ...architectureLines(x64, rules),
    { kind: 'label', name: 'unknown architecture' },
    { kind: 'return', value: killProcess },
  ]);
}

function architectureLines(architecture: Architecture, rules: readonly Rule[]): Line[] {
  const target = (refusal: Refusal): string => `${architecture.name} ${refusal}`;
  const lines: Line[] = [{ kind: 'load', offset: numberOffset }];
  if (architecture.otherAbiFrom !== undefined) {
    lines.push({ kind: 'jump', test: 'at-least', value: architecture.otherAbiFrom, to: target('ENOSYS') });
  }
  rules.forEach((rule, index) => {
    for (const call of rule.calls) {
      const number = architecture.calls[call];
      if (number === undefined) {
        continue;
      }
      if (rule.when === undefined) {
        lines.push({ kind: 'jump', test: 'equal', value: number, to: target(rule.refusal) });
        continue;
      }
      const after = `${architecture.name} after ${index} ${call}`;
      const reload = `${architecture.name} reload ${index} ${call}`;
      lines.push(
        { kind: 'jump', test: 'equal', value: number, otherwise: after },
        ...testLines(rule.when, target(rule.refusal), reload),
        { kind: 'label', name: reload },
        { kind: 'load', offset: numberOffset },
        { kind: 'label', name: after },
      );
    }
  });
  lines.push({ kind: 'return', value: allow });
  for (const refusal of Object.keys(errnos) as Refusal[]) {
    lines.push(
      { kind: 'label', name: target(refusal) },
      { kind: 'return', value: refuseWith | errnos[refusal] },
    );
  }
  return lines;
}

/** All tests must hold to reach `whenAll`; the first that does not goes to `otherwise`. */
function testLines(tests: readonly ArgumentTest[], whenAll: string, otherwise: string): Line[] {
  return tests.flatMap(({ argument, is, value }, index): Line[] => {
    const next = `${otherwise} after test ${index}`;
    const holds = index === tests.length - 1 ? whenAll : next;
    return [
      { kind: 'load', offset: argumentOffset(argument) },
      is === 'not-equal'
        ? { kind: 'jump', test: 'equal', value, to: otherwise, otherwise: holds }
        : { kind: 'jump', test: is, value, to: holds, otherwise },
      { kind: 'label', name: next },
    ];
  });
}
