import { readFileSync, readlinkSync } from 'node:fs';

/** One process for all time: a number alone is used again. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to start, as `/proc/PID/stat` has it. */
  readonly startTime: string;
  /** The PID namespace that the two are counted in; containers may share a runtime folder. */
  readonly namespace: string;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? '0', namespace: ownNamespace() };
}

/** False only when the process has certainly ended: one of another namespace cannot be seen from here. */
export function mayBeAlive(identity: ProcessIdentity): boolean {
  return identity.namespace !== ownNamespace() || startTimeOf(identity.pid) === identity.startTime;
}

export function formatIdentity({ pid, startTime, namespace }: ProcessIdentity): string {
  return `${pid}-${startTime}-${namespace}`;
}

export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [, pid, startTime, namespace] = /^(\d+)-(\d+)-(\d+)/.exec(text) ?? [];
  return pid === undefined || startTime === undefined || namespace === undefined
    ? undefined
    : { pid: Number(pid), startTime, namespace };
}

function ownNamespace(): string {
  // "pid:[4026531836]"
  return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
}

function startTimeOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name, field 2, may contain anything; the start time is field 22.
    const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : fields[18];
  } catch {
    // No such process.
    return undefined;
  }
}
