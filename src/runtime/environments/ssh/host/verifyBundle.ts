import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundleFile } from '../hostWords.ts';
import { whyNotOwn } from './ownFolder.ts';

/**
 * Why a folder does not hold exactly these files, and nothing else that could be run in their place; undefined when it
 * does. Nothing of what it holds is used to find out.
 */
export function whyNotIntact(folder: string, files: readonly BundleFile[]): string | undefined {
  const expected = new Map(files.map((file) => [file.path, file]));
  try {
    const problem = folderProblem(folder, '', expected);
    const [missing] = expected.keys();
    return problem ?? (missing === undefined ? undefined : `${missing} is missing`);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code ?? error);
  }
}

/** Takes out of `left` what it found. */
function folderProblem(folder: string, below: string, left: Map<string, BundleFile>): string | undefined {
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) {
    return `${folder} is not a folder`;
  }
  const problem = whyNotOwn(folder, stats);
  if (problem !== undefined) {
    return problem;
  }
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    const file = left.get(name);
    left.delete(name);
    const found = entry.isDirectory()
      ? folderProblem(path, name, left)
      : file === undefined
        ? `${path} does not belong there`
        : fileProblem(path, file);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function fileProblem(path: string, { size, sha256, isExecutable }: BundleFile): string | undefined {
  const stats = lstatSync(path);
  if (!stats.isFile() || stats.size !== size || isExecutable !== ((stats.mode & 0o100) !== 0)) {
    return `${path} is another file`;
  }
  const isSame = createHash('sha256').update(readFileSync(path)).digest('hex') === sha256;
  return isSame ? whyNotOwn(path, stats) : `${path} was changed`;
}
