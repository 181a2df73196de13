import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { waitFor } from './waitFor.ts';

/** A process of this machine; `startedAt` tells it from a later one with the same id. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly startedAt: string;
  readonly state: string;
  readonly command: string;
}

/** Every process that is alive now, without zombies. */
export function listProcesses(): readonly ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((entry): entry is ProcessEntry => entry !== undefined && entry.state !== 'Z');
}

/** The living descendants of a process, itself not included. */
export function descendantsOf(pid: number): readonly ProcessEntry[] {
  const all = listProcesses();
  const found: ProcessEntry[] = [];
  const pending = [pid];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const children = all.filter(({ parent }) => parent === next);
    found.push(...children);
    pending.push(...children.map((child) => child.pid));
  }
  return found;
}

/** Processes that carry `name=value` in the environment that they were started with. */
export function processesWithEnvironment(name: string, value: string): readonly ProcessEntry[] {
  return listProcesses().filter(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${name}=${value}`);
    } catch {
      return false; // ended meanwhile, or belongs to somebody else
    }
  });
}

/** Whether it sees only the processes of a sandbox; true of what has ended meanwhile. */
export function isInSandbox({ pid }: ProcessEntry): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync('/proc/self/ns/pid');
  } catch {
    return true;
  }
}

/** Whoever has ended meanwhile, with another one perhaps, is as good. */
export function killAll(entries: readonly ProcessEntry[]): void {
  for (const entry of entries.filter(isStillAlive)) {
    try {
      process.kill(entry.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
        throw error;
      }
    }
  }
}

export function isStillAlive({ pid, startedAt }: ProcessEntry): boolean {
  const now = readProcess(pid);
  return now !== undefined && now.state !== 'Z' && now.startedAt === startedAt;
}

/** Waits until all of them have ended; kills those that have not after `timeoutMs` and rejects, naming them. */
export async function assertEnded(entries: readonly ProcessEntry[], timeoutMs = 20_000): Promise<void> {
  const left = (): readonly ProcessEntry[] => entries.filter(isStillAlive);
  try {
    await waitFor('all processes to end', () => left().length === 0, {
      timeoutMs,
      describe: () =>
        left()
          .map(({ pid, command }) => `${pid} ${command}`)
          .join('\n'),
    });
  } catch (error) {
    killAll(left());
    throw error;
  }
}

function readProcess(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent = '0', group = '0'] = fields;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(parent), group: Number(group), startedAt: fields[19] ?? '', state, command };
  } catch {
    return undefined;
  }
}
