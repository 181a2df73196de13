import { symlink } from 'node:fs/promises';
import type { WriteAccess } from '../../sandbox/writeAccess.ts';
import { hasCanonicalParent } from '../apply/canonicalParent.ts';
import type { RestoredFile } from './restore.ts';

/** Makes the links of a restore, which a plan cannot; call it when the plan is applied. Gives a sentence per failure. */
export async function restoreLinks(
  files: readonly RestoredFile[],
  access: WriteAccess,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path, name, link } of files) {
    if (link === undefined) {
      continue;
    }
    const refusal = access(path);
    if (refusal !== undefined || !(await hasCanonicalParent(path))) {
      problems.push(
        `The link ${name} was not restored: ${refusal?.message ?? 'it lies behind another link now.'}`,
      );
      continue;
    }
    try {
      await symlink(link, path);
    } catch (error) {
      problems.push(`The link ${name} was not restored: ${(error as Error).message}`);
    }
  }
  return problems;
}
