import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { followGitPointer, innerGitFolders, lookUp } from '../git/gitFolders.ts';
import { isInside } from '../paths.ts';
import { disarmGitFolder, disarmOne, disarmTodo, execLines } from './disarmGitFolder.ts';
import type { Finding } from './finding.ts';
import type { Guard } from './guard.ts';
import { GuardWatch } from './guard.ts';

/** Where repositories are: each `.git` below a root, and folders that git would take for one. */
export interface KnownRepositories {
  readonly repositories: readonly string[];
  readonly bareRepositories: readonly string[];
}

export interface AftermathInput {
  readonly roots: readonly string[];
  readonly before: KnownRepositories;
  readonly guards: readonly Guard[];
  /** Every repository's folder that was protected during the run. */
  readonly gitFolders: readonly string[];
  /** Those of them that the command may write in. */
  readonly writableGitFolders: readonly string[];
  readonly isWritable: (path: string) => boolean;
}

/**
 * What no mount can prevent: repositories that come to be during a run, and names that mounts cannot keep. Made before
 * the run; {@link end} is called once after it. A repository that the person makes in the same place at the same time
 * is looked at, too: nobody can tell whose it is.
 */
export class Aftermath {
  readonly #input: AftermathInput;
  readonly #watch: GuardWatch;
  /** The folders inside of those that may be written, and the `exec` lines in each. */
  readonly #inner: ReadonlyMap<string, ReadonlySet<string>>;

  /** The roots' own, which an index of what is below does not know. */
  readonly #atTop: readonly string[];

  constructor(input: AftermathInput) {
    this.#input = input;
    this.#atTop = topsOf(input.roots);
    this.#inner = new Map(
      input.writableGitFolders
        .flatMap((folder) => [folder, ...innerGitFolders(folder)])
        .map((folder) => [folder, execLines(folder)]),
    );
    this.#watch = new GuardWatch(input.guards);
  }

  end(after: KnownRepositories): readonly Finding[] {
    const { before, writableGitFolders, gitFolders, roots } = this.#input;
    const known = new Set([
      ...before.repositories,
      ...before.bareRepositories,
      ...gitFolders,
      ...this.#atTop,
    ]);
    const isNew = (path: string): boolean => !known.has(path);
    const guarded = this.#watch.end();
    const planted = new Set([
      ...[...after.repositories, ...topsOf(roots)].filter(isNew).flatMap((path) => this.#foldersOf(path)),
      ...after.bareRepositories.filter(isNew),
    ]);
    const inner = writableGitFolders.flatMap((folder) => [folder, ...innerGitFolders(folder)]);
    return [
      ...guarded,
      ...[...planted].flatMap(disarmGitFolder),
      ...inner.flatMap((folder) => {
        const lines = this.#inner.get(folder);
        return lines === undefined ? disarmOne(folder) : disarmTodo(folder, lines);
      }),
    ];
  }

  /** The repository's folders behind a new `.git`, as far as commands may have written in them unseen. */
  #foldersOf(path: string): string[] {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry?.isDirectory() === true) {
      return [path];
    }
    const targets =
      entry?.isFile() === true
        ? followGitPointer(path).filter(({ isMissing }) => !isMissing)
        : [{ path: canonical(path) }];
    return targets
      .map((target) => target.path)
      .filter(
        (target) =>
          this.#input.isWritable(target) &&
          !this.#input.gitFolders.some((folder) => isInside(target, folder)),
      );
  }
}

function topsOf(roots: readonly string[]): string[] {
  return roots.map((root) => join(root, '.git')).filter((path) => lookUp(path) !== undefined);
}

function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It leads to nothing.
    return path;
  }
}
