import { readFileSync } from 'node:fs';

/** Tells a process from every other that has had its number; undefined when none has it now. */
export function processIdentity(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc_pid_stat(5): the name, in parentheses, may hold anything; field 22 is the start in ticks since the boot.
    const started = status.slice(status.lastIndexOf(')') + 2).split(' ')[19];
    return `${boot}:${started}`;
  } catch {
    return undefined;
  }
}
