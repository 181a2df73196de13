import type { Access, FileRules } from '../../src/sandbox/policy/fileRules.ts';
import { accesses } from '../../src/sandbox/policy/fileRules.ts';
import type { PolicySource } from '../../src/sandbox/policy/policy.ts';
import type { Random } from './random.ts';

const names = ['a', 'b', '.env', 'node_modules'] as const;
const globs = ['**/.env', 'a/**', '**/b', '*/a', 'b'] as const;

/** A path of few names, so that rules meet. */
export function randomPath(random: Random, maxDepth = 4): string {
  return `/${Array.from({ length: random.integer(0, maxDepth) }, () => random.pick(names)).join('/')}`;
}

/** Rules as a policy has them: one for the top, one per path. */
export function randomRules(random: Random, source: PolicySource, isComplete: boolean): FileRules {
  const paths = new Set([
    ...(isComplete ? ['/'] : []),
    ...Array.from({ length: random.integer(0, 5) }, () => randomPath(random, 3)),
  ]);
  return {
    files: [...paths].map((path) => ({ path, access: random.pick<Access>(accesses), source })),
    hidden: Array.from({ length: random.integer(0, 2) }, () => ({
      folder: randomPath(random, 1),
      glob: random.pick(globs),
      source,
    })),
  };
}
