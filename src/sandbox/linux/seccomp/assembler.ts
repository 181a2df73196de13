/** One line of a classic BPF program for seccomp; jumps name labels instead of distances. */
export type Line =
  | { readonly kind: 'label'; readonly name: string }
  /** Loads a 32-bit word of `struct seccomp_data`. */
  | { readonly kind: 'load'; readonly offset: number }
  | { readonly kind: 'and'; readonly value: number }
  /** Goes to `to` when the test holds, otherwise to `otherwise`; a missing label means the next line. */
  | {
      readonly kind: 'jump';
      readonly test: JumpTest;
      readonly value: number;
      readonly to?: string;
      readonly otherwise?: string;
    }
  /** Goes to `to`, however far: only conditional jumps count in one byte. */
  | { readonly kind: 'goto'; readonly to: string }
  | { readonly kind: 'return'; readonly value: number };

/** `any-bit`: the accumulator has a bit of the value. */
export type JumpTest = 'equal' | 'at-least' | 'any-bit';

// linux/bpf_common.h
const opcodes = { loadWord: 0x20, and: 0x54, goto: 0x05, return: 0x06 } as const;
const jumpOpcodes: Readonly<Record<JumpTest, number>> = { equal: 0x15, 'at-least': 0x35, 'any-bit': 0x45 };

export const instructionBytes = 8;
/** A classic BPF jump counts forward in one byte. */
const maxDistance = 255;

/**
 * Turns the lines into the bytes that `seccomp(2)` takes on a little-endian machine.
 * Throws on an unknown label and on a jump backwards or too far: a bug in the program, not in its input.
 */
export function assemble(lines: readonly Line[]): Uint8Array {
  const addresses = new Map<string, number>();
  let count = 0;
  for (const line of lines) {
    if (line.kind === 'label') {
      addresses.set(line.name, count);
    } else {
      count += 1;
    }
  }
  const bytes = new Uint8Array(count * instructionBytes);
  const view = new DataView(bytes.buffer);
  let address = 0;
  for (const line of lines) {
    if (line.kind === 'label') {
      continue;
    }
    const [opcode, whenTrue, whenFalse, operand] = encode(line, (label, max) =>
      distance(addresses, address, label, max),
    );
    view.setUint16(address * instructionBytes, opcode, true);
    view.setUint8(address * instructionBytes + 2, whenTrue);
    view.setUint8(address * instructionBytes + 3, whenFalse);
    view.setUint32(address * instructionBytes + 4, operand, true);
    address += 1;
  }
  return bytes;
}

function encode(
  line: Exclude<Line, { kind: 'label' }>,
  distanceTo: (label: string | undefined, max?: number) => number,
): readonly [opcode: number, whenTrue: number, whenFalse: number, operand: number] {
  switch (line.kind) {
    case 'load':
      return [opcodes.loadWord, 0, 0, line.offset];
    case 'and':
      return [opcodes.and, 0, 0, line.value];
    case 'goto':
      return [opcodes.goto, 0, 0, distanceTo(line.to, Infinity)];
    case 'return':
      return [opcodes.return, 0, 0, line.value];
    case 'jump':
      return [jumpOpcodes[line.test], distanceTo(line.to), distanceTo(line.otherwise), line.value];
  }
}

function distance(
  addresses: ReadonlyMap<string, number>,
  from: number,
  label: string | undefined,
  max = maxDistance,
): number {
  if (label === undefined) {
    return 0;
  }
  const target = addresses.get(label);
  if (target === undefined) {
    throw new Error(`seccomp program: no label ${label}`);
  }
  const steps = target - from - 1;
  if (steps < 0 || steps > max) {
    throw new Error(`seccomp program: ${label} is ${steps} lines away`);
  }
  return steps;
}
