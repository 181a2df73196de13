import { dirname } from 'node:path';
import type { PolicyInput, PolicyMachine, PolicyProblem } from '../../src/sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';

/** A machine with these files and folders, those above them, and links from one path to another. */
export function pretendMachine(
  paths: readonly string[],
  links: Readonly<Record<string, string>> = {},
): PolicyMachine {
  const known = new Set<string>(['/']);
  for (let path of [...paths, ...Object.values(links)]) {
    for (; !known.has(path); path = dirname(path)) {
      known.add(path);
    }
  }
  return {
    homeDir: '/home/ann',
    searchPath: '/usr/bin',
    memoryMiB: 10_000,
    canonicalize: (path) => {
      const link = Object.keys(links).find((from) => path === from || path.startsWith(`${from}/`));
      const real = link === undefined ? path : `${links[link]}${path.slice(link.length)}`;
      return known.has(real) ? real : undefined;
    },
    listFolder: (folder) =>
      [...known, ...Object.keys(links)]
        .filter((path) => dirname(path) === folder && path !== '/')
        .map((path) => path.split('/').at(-1) ?? ''),
    repositoryAround: (folder) => {
      for (let above = dirname(folder); above !== '/'; above = dirname(above)) {
        if (known.has(`${above}/.git`)) return above;
      }
      return undefined;
    },
  };
}

const machine = pretendMachine([
  '/w/p/src',
  '/home/ann/notes',
  '/home/bob',
  '/root',
  '/etc',
  '/usr/bin',
  '/tmp',
]);

/** The policy of `/w/p` on a small machine. */
export function resolved(input: Partial<PolicyInput> = {}): SandboxPolicy {
  const result = resolvePolicy({ ...machine, root: '/w/p', isTrusted: true, user: {}, ...input });
  if (!result.ok) {
    throw new Error(result.error.message);
  }
  return result.value;
}

/** What is wrong with an input. */
export function problemOf(input: Partial<PolicyInput>): PolicyProblem {
  const result = resolvePolicy({ ...machine, root: '/w/p', isTrusted: true, user: {}, ...input });
  if (result.ok) {
    throw new Error('the input is valid');
  }
  return result.error;
}
