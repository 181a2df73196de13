import { readFileSync } from 'node:fs';
import type { Command, SandboxError } from '../../sandboxManager.ts';
import { countMounts, maxMounts } from './companionMounts.ts';

/** `MAX_ARGS` in bubblewrap's source: of its options, not of what it runs. */
export const maxArguments = 9000;

const mebibyte = 1024 * 1024;

/** execve(2): a quarter of the stack's limit, between these; each word takes its bytes, a zero and a pointer. */
const smallestMemory = mebibyte / 8;
const largestMemory = 6 * mebibyte;
const perWord = 9;

/**
 * Why a launch with this many rules cannot start; undefined when it can, or when the command alone is too long for
 * the kernel, which then says so itself. Each hidden or protected path takes a few arguments, so that a glob with
 * thousands of matches is more than bubblewrap or the kernel takes.
 */
export function tooManyArguments(
  argv: readonly string[],
  bubblewrapPath: string,
  command: Pick<Command, 'argv' | 'env'>,
  root: string,
): SandboxError | undefined {
  const own = argv.slice(argv.indexOf(bubblewrapPath) + 1);
  const count = own.indexOf('--');
  if (count > maxArguments) {
    return refusal(root, `${count} arguments, and bubblewrap takes ${maxArguments}`);
  }
  const mounts = countMounts(argv);
  if (mounts > maxMounts) {
    return refusal(root, `${mounts} mounts, and a sandbox takes ${maxMounts}`);
  }
  if (longest(argv) + longest(Object.entries(command.env).flat()) <= smallestMemory) {
    return undefined;
  }
  const others = sizeOf(Object.entries(command.env).map(([name, value]) => `${name}=${value}`));
  const size = sizeOf(argv) + others;
  const limit = argumentMemory(readFileSync('/proc/self/limits', 'utf8'));
  return size > limit && sizeOf(command.argv) + others <= limit
    ? refusal(root, `${size} bytes of arguments, and the kernel takes ${limit}`)
    : undefined;
}

/** Of the text of `/proc/self/limits`, in bytes. */
export function argumentMemory(limits: string): number {
  const stack = Number(/^Max stack size\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  return Math.min(Math.max(Math.floor(stack / 4), smallestMemory), largestMemory);
}

/** No size is above this one, which is known at once: UTF-8 takes up to three bytes for each of these units. */
function longest(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + 3 * word.length + perWord, 0);
}

function sizeOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word) + perWord, 0);
}

function refusal(root: string, what: string): SandboxError {
  return {
    kind: 'clause-unenforceable',
    message: `The paths to hide and to protect in ${root} are too many for one start: ${what}.`,
    hint: 'Hide whole folders instead of many single files in cordon.sandbox.files, or open a folder further down as the root.',
  };
}
