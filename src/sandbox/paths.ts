/** Whether `path` is `folder` itself or lies below it. Both absolute and canonical. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || isBelow(path, folder);
}

/** Whether `path` lies below `folder`, which it is not itself. */
export function isBelow(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** 0 for `/`, 1 for `/a`, and so on. */
export function depthOf(path: string): number {
  if (path === '/') {
    return 0;
  }
  let depth = 0;
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    depth++;
  }
  return depth;
}

/** The code of a failed system call (`ENOENT`); undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
