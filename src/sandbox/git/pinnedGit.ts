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
    ...(repository !== undefined && {
      // Outranks the file `commondir`, which a command can make for a moment.
      GIT_COMMON_DIR: repository.commonFolder,
      GIT_WORK_TREE: repository.workTree,
    }),
    GIT_CONFIG_COUNT: String(overrides.length),
    ...Object.fromEntries(
      overrides.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/**
 * What talks with other repositories, and is the reason to leave a sandbox. Others execute what lies about in a
 * repository's folder: `rebase --continue` the lines of its list.
 */
const talking: ReadonlySet<string> = new Set(['fetch', 'ls-remote', 'pull', 'push']);

/** Options that name a program to run or outrank the variables; git takes any beginning of one for it. */
const loosening = ['--exec', '--receive-pack', '--recurse-submodules', '--upload-pack'];

/** Whether the words of a git command may do more than talk with another repository for the one that is pinned. */
export function loosensGit([, command = '', ...rest]: readonly string[]): boolean {
  return (
    !talking.has(command) ||
    rest.some((word) => {
      const [name = ''] = word.split('=');
      const isLoosening = /^--./.test(name) && loosening.some((option) => option.startsWith(name));
      // `ext::…` and the like: a program speaks for the remote.
      return isLoosening || /^[a-z0-9+.-]+::/i.test(word);
    })
  );
}
