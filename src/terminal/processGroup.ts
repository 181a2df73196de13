import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { SandboxType } from '../sandbox/sandboxManager.ts';

export function signalNumber(name: NodeJS.Signals): number {
  return constants.signals[name];
}

export function signalName(number: number): NodeJS.Signals | undefined {
  const entries = Object.entries(constants.signals) as [NodeJS.Signals, number][];
  return entries.find(([, value]) => value === number)?.[0];
}

/** Whether there is a process of this number, be it one that may not be signalled. */
export function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Signals a whole process group. False when no process of it is left. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Signals the command that runs below a launcher, so that its own traps run: a signal to the launcher
 * itself would end the whole sandbox at once. The command is the first child of the launcher's only child, which is
 * process 1 of its namespace; before that, the child is for a moment the one that starts the keeper.
 * False when it is not running (yet, or any more).
 */
export function signalSandboxedGroup(
  launcher: number,
  signal: NodeJS.Signals,
  sandbox: Exclude<SandboxType, 'none'>,
): boolean {
  const [init] = childrenOf(launcher);
  const [command] =
    init === undefined || (sandbox === 'bubblewrap' && !isFirstOfNamespace(init)) ? [] : childrenOf(init);
  return command !== undefined && (signalGroup(command, signal) || signalProcess(command, signal));
}

/**
 * Kills a sandbox whole. While bubblewrap sets it up, its first process does not die with the launcher yet: so the
 * launcher is stopped, which keeps it from starting anything, then the first process goes, then the launcher.
 * Without a namespace the launcher's child ends everything when the launcher is gone, so that one must stay.
 */
export function killSandbox(launcher: number, sandbox: Exclude<SandboxType, 'none'>): void {
  if (sandbox === 'landlock') {
    signalProcess(launcher, 'SIGKILL');
    return;
  }
  signalProcess(launcher, 'SIGSTOP');
  for (const init of childrenOf(launcher)) {
    signalProcess(init, 'SIGKILL');
  }
  signalProcess(launcher, 'SIGKILL');
}

function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function isFirstOfNamespace(pid: number): boolean {
  try {
    // Its number here comes first, the one in its own namespace last.
    return /^NSpid:(\t\d+)+\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
