import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder that nobody else can write in, with those above it, and gives its canonical path. Throws when somebody
 * else can replace it, or a folder above it: they could have their own program run.
 */
export function makeOwnFolder(path: string): string {
  try {
    makeFolders(path);
  } catch (error) {
    throw new Error(`${path}: ${String((error as NodeJS.ErrnoException).code)}`, { cause: error });
  }
  const folder = realpathSync(path);
  const problem = whyNotOwn(folder, lstatSync(folder));
  if (problem !== undefined) {
    throw new Error(problem);
  }
  for (let above = dirname(folder); ; above = dirname(above)) {
    const { uid, mode } = lstatSync(above);
    const isSticky = (mode & 0o1000) !== 0;
    if ((uid !== 0 && uid !== process.getuid?.()) || ((mode & 0o002) !== 0 && !isSticky)) {
      throw new Error(`others can replace what is in ${above}`);
    }
    if (above === dirname(above)) {
      return folder;
    }
  }
}

/** Node's own way to do it never ends below `/proc`. */
function makeFolders(path: string): void {
  if (!existsSync(path)) {
    makeFolders(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}

/** Why somebody else could change a file or folder; undefined when nobody can. */
export function whyNotOwn(
  path: string,
  { uid, mode }: { readonly uid: number; readonly mode: number },
): string | undefined {
  if (uid !== process.getuid?.()) {
    return `${path} belongs to user ${uid}`;
  }
  return (mode & 0o022) === 0 ? undefined : `others can write ${path}`;
}
