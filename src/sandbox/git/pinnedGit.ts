import type { HeldRepository } from './heldRepository.ts';

/**
 * Configuration that outranks the repository's: nothing from the workspace is run. Hooks are what a push usually runs
 * of it, and they end in files that commands may write (`npm test`).
 */
const overrides: readonly (readonly [key: string, value: string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['protocol.ext.allow', 'never'],
];

/** Variables with which git, whoever calls it, works on this repository and no other; without one, on none. */
export function pinnedGit(repository: HeldRepository | undefined): Readonly<Record<string, string>> {
  return {
    GIT_DIR: repository?.gitFolder ?? '/dev/null',
    ...(repository !== undefined && { GIT_WORK_TREE: repository.workTree }),
    GIT_CONFIG_COUNT: String(overrides.length),
    ...Object.fromEntries(
      overrides.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Options that name a program to run or outrank the variables; git takes any beginning of one for it. */
const loosening = ['--exec', '--receive-pack', '--recurse-submodules', '--upload-pack'];

/** Whether the words of a git command name another repository or something to execute. */
export function loosensGit([, command = '', ...rest]: readonly string[]): boolean {
  return (
    command.startsWith('-') ||
    rest.some((word) => {
      const [name = ''] = word.split('=');
      const isLoosening = /^--./.test(name) && loosening.some((option) => option.startsWith(name));
      // `ext::…` and the like: a program speaks for the remote.
      return isLoosening || /^[a-z0-9+.-]+::/i.test(word);
    })
  );
}
