import { isLikelyNetworkDenied } from './denial.ts';
import type { PolicyClause, SandboxPolicy } from './policy/policy.ts';
import { writableRoots } from './policy/policy.ts';

/** What the sandbox likely stopped, in words for a person and a model. */
export interface Denial {
  /** The clause of the policy that stopped it; absent when the output does not tell. */
  readonly clause?: PolicyClause;
  /** The path in front of the message, when one was found. */
  readonly path?: string;
  /** One sentence: what was stopped by which clause. */
  readonly message: string;
  /** What the user can do about it. */
  readonly hint: string;
}

export interface DenialContext {
  /** The end of the output is enough: messages of denials come last. */
  readonly output: string;
  readonly policy: SandboxPolicy;
  readonly exitCode?: number;
}

/**
 * Explains a failure that {@link isLikelyDenied} suspects. It can only read what the program printed, so it says
 * "likely" unless a read-only file system, which programs do not report by accident, was named with its path.
 */
export function describeDenial({ output, policy, exitCode = 1 }: DenialContext): Denial {
  const written = findWrite(output);
  if (written !== undefined) {
    return describeWrite(written, policy);
  }
  const isNetworkOff = policy.network === 'off';
  if (isLikelyNetworkDenied({ exitCode, output, isNetworkOff })) {
    return {
      clause: 'network',
      message:
        'The command likely failed because the network is off for this root, loopback of the machine included.',
      hint: 'If it needs the network, ask the user to turn it on for this root: status bar, or cordon.sandbox.network.',
    };
  }
  return {
    message: `The sandbox (${policy.mode}, network ${policy.network}) likely stopped something, but the output does not tell what.`,
    hint: 'Check whether the command writes outside the root, reaches for the network or for other processes.',
  };
}

interface FailedWrite {
  readonly path: string | undefined;
  readonly isCertain: boolean;
}

const messagePattern = /^(.*?)(read-only file system|permission denied|operation not permitted)/gim;

/** The last complaint wins: it is what ended the command. A read-only file system outranks the vaguer ones. */
function findWrite(output: string): FailedWrite | undefined {
  const complaints = [...output.matchAll(messagePattern)].map(([line, before = '', text = '']) => ({
    path: pathIn(before) ?? pathIn(rest(output, line)),
    isReadOnly: text.toLowerCase() === 'read-only file system',
  }));
  const found =
    complaints.findLast(({ isReadOnly, path }) => isReadOnly && path !== undefined) ??
    complaints.findLast(({ isReadOnly }) => isReadOnly) ??
    complaints.findLast(({ path }) => path !== undefined);
  return found && { path: found.path, isCertain: found.isReadOnly };
}

/** Node and Python put the path behind the message: `EROFS: read-only file system, open '/x'`. */
function rest(output: string, line: string): string {
  const from = output.indexOf(line) + line.length;
  const end = output.indexOf('\n', from);
  return output.slice(from, end < 0 ? undefined : end);
}

/** A quoted path is taken whole; of bare ones the last, because program and line number stand before it. */
function pathIn(text: string): string | undefined {
  const quoted = [...text.matchAll(/['"`‘“]([^'"`‘’“”]*\/[^'"`‘’“”]*)['"`’”]/g)].at(-1)?.[1];
  if (quoted !== undefined) {
    return quoted;
  }
  return [...text.matchAll(/(?:^|\s)((?:\/|~\/|\.{1,2}\/)[^\s:,]+)(?=\s*(?:[:,]|$))/g)].at(-1)?.[1];
}

function describeWrite({ path, isCertain }: FailedWrite, policy: SandboxPolicy): Denial {
  const what = path === undefined ? 'a write' : `the write to ${path}`;
  const stopped = isCertain && path !== undefined ? 'stopped' : 'likely stopped';
  const found = path === undefined ? {} : { path };
  if (policy.mode === 'read-only') {
    return {
      clause: 'mode',
      ...found,
      message: `The sandbox ${stopped} ${what}: this root is read-only.`,
      hint:
        policy.sources.mode === 'untrusted'
          ? 'The workspace is not trusted. If it may be changed, ask the user to trust it.'
          : 'If it must write, ask the user to choose workspace-write for this root in the status bar.',
    };
  }
  const folder = writableRoots(policy).find((root) => path?.startsWith(`${root}/`));
  if (path !== undefined && folder !== undefined) {
    return {
      clause: 'writableRoots',
      ...found,
      message: `The sandbox ${stopped} ${what}: metadata of tools in a root (.git, .vscode, .agents …) is protected.`,
      hint: `If it must write there, ask the user to add the protected folder to cordon.sandbox.writableRoots.`,
    };
  }
  return {
    clause: 'writableRoots',
    ...found,
    message: `The sandbox ${stopped} ${what}: writes are limited to ${writableRoots(policy).join(', ')}.`,
    hint:
      path === undefined
        ? 'If it must write elsewhere, ask the user to add the folder to cordon.sandbox.writableRoots.'
        : `If it must write there, ask the user to add ${parentOf(path)} to cordon.sandbox.writableRoots.`,
  };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
