import { isAbsolute, resolve } from 'node:path';
import { isInside } from '../../sandbox/paths.ts';
import { locate } from '../../sandbox/policy/files/locate.ts';
import type { PolicyMachine } from '../../sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { isWideEnough } from '../../sandbox/policy/widening.ts';

/** A command that names more paths than this wants something else than a few paths. */
const mostPaths = 4;

/**
 * The existing files and folders that a command's words name and that the policy keeps it from writing: as arguments,
 * behind an option's `=`, or as `file://`. Nothing that contains the root or the home folder.
 */
export function namedPaths(
  { argv, cwd }: { readonly argv: readonly string[]; readonly cwd: string },
  policy: SandboxPolicy,
  machine: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>,
): readonly Widening[] {
  const named = argv.slice(1).flatMap((word) => {
    const value = (word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word).replace(/^file:\/\//, '');
    const isPath = !value.startsWith('-') && (value.includes('/') || value === '..');
    return isPath ? [isAbsolute(value) ? value : resolve(cwd, value)] : [];
  });
  const paths = named
    .map((path) => locate(path, machine))
    .filter(({ exists }) => exists)
    .map(({ path }) => path)
    .filter((path) => !isInside(policy.root, path) && !isInside(machine.homeDir, path));
  const widenings = [...new Set(paths)]
    .map((path): Widening => ({ kind: 'path', path, access: 'write' }))
    .filter((widening) => !isWideEnough(policy, widening));
  return widenings.length > mostPaths ? [] : widenings;
}
