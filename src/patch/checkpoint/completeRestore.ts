import { rmdir, symlink } from 'node:fs/promises';
import { hasCanonicalParent } from '../apply/canonicalParent.ts';
import type { RestoredFile } from './restore.ts';

/** What a plan cannot restore. */
export interface RestoreRest {
  /** That the patch made, innermost first. */
  readonly newFolders: readonly string[];
  readonly files: readonly Pick<RestoredFile, 'path' | 'name' | 'link'>[];
}

/**
 * Restores what a plan cannot: links, and the absence of folders that the patch made and that are empty again. To be
 * called when the plan is applied, for paths that may be written. Gives a sentence for each link that stays missing.
 */
export async function completeRestore({ newFolders, files }: RestoreRest): Promise<readonly string[]> {
  for (const folder of newFolders) {
    if (await hasCanonicalParent(folder)) {
      await rmdir(folder).catch(() => undefined); // it holds something else, or is gone already
    }
  }
  const problems: string[] = [];
  for (const { path, name, link } of files) {
    if (link !== undefined) {
      const problem = await makeLink(link, path);
      problems.push(...(problem === undefined ? [] : [`The link ${name} was not restored: ${problem}.`]));
    }
  }
  return problems;
}

async function makeLink(target: string, path: string): Promise<string | undefined> {
  if (!(await hasCanonicalParent(path))) {
    return 'a folder on the way to it is a link now';
  }
  try {
    await symlink(target, path);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
