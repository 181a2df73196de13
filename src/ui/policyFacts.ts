import { childEnvironment } from '../sandbox/environment.ts';
import { depthOf } from '../sandbox/paths.ts';
import type { FileRule } from '../sandbox/policy/fileRules.ts';
import type { ResourceLimits } from '../sandbox/policy/limits.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';

// What the page and the view of a policy tell alike.

/** The rules for files as a person looks for them: what contains others first. */
export function sortedFiles({ files }: SandboxPolicy): readonly FileRule[] {
  return [...files].sort(
    (one, other) => depthOf(one.path) - depthOf(other.path) || (one.path < other.path ? -1 : 1),
  );
}

/** Why a rule is there: the place by which it was written, or what kind of path it is. */
export function purposeOf({ path, writtenAs }: FileRule, policy: SandboxPolicy): string {
  const place = writtenAs?.startsWith(':') === true ? placeWords[writtenAs] : undefined;
  if (place !== undefined) {
    return `${place} (${writtenAs ?? ''})`;
  }
  if (writtenAs !== undefined) {
    return `written as ${writtenAs}`;
  }
  return path === policy.root ? 'the folder itself' : path === '/' ? 'the whole disk' : '';
}

const placeWords: Readonly<Record<string, string>> = {
  ':root': 'the whole disk',
  ':workspace': 'the folder itself',
  ':home': 'home folders',
  ':repository': 'the repository around the folder',
  ':tmp': 'temporary folders',
  ':minimal': 'the operating system',
  ':toolchains': 'toolchains',
  ':caches': 'caches of package managers',
  ':secrets': 'secrets',
};

/** The names of the variables that a command in a terminal gets. */
export function variableNames(
  policy: SandboxPolicy,
  parentEnv: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return Object.keys(
    childEnvironment({
      policy: policy.environment,
      parent: parentEnv,
      isTty: true,
      isNetworkOff: policy.network === 'off',
      isProxied: policy.network === 'allow-list',
      marker: policy.mode,
      isTmpPrivate: policy.tmp === 'private',
    }),
  ).sort();
}

const limitWords = {
  processes: ['processes and threads', ''],
  memoryMiB: ['memory', ' MiB'],
  fileSizeMiB: ['size of one file', ' MiB'],
  cpuSeconds: ['computing time of a process', ' s'],
} as const;

export interface LimitFact {
  readonly name: keyof ResourceLimits;
  readonly words: string;
  readonly value: string;
}

/** Every limit there can be. */
export function limitFacts({ limits }: SandboxPolicy): readonly LimitFact[] {
  return (Object.keys(limitWords) as (keyof typeof limitWords)[]).map((name) => {
    const [words, unit] = limitWords[name];
    const limit = limits[name];
    return { name, words, value: limit === undefined ? 'no limit' : `${limit}${unit}` };
  });
}
