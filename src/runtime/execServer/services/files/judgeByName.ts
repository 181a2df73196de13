import { stat } from 'node:fs/promises';
import type { ParamsOf } from '../../protocol/methods.ts';
import { canonicalPlace } from './canonicalPlace.ts';
import type { FileMethod } from './fileMethods.ts';
import { nativePath } from './fileMethods.ts';
import type { Judge } from './judge.ts';

/**
 * Refuses by name what a call asks for, before the worker hears of it. What it finds may be out of date when the call
 * is done: the sandbox around the worker, and the same judge in it, decide again about what is really there.
 */
export async function judgeByName<M extends FileMethod>(
  method: M,
  params: ParamsOf<M>,
  judge: Judge,
): Promise<void> {
  for (const { uri, use, isLastFollowed = true } of pathsOf[method](params)) {
    const path = await canonicalPlace(nativePath(uri), isLastFollowed);
    const isWrite = use === 'write' || (use === 'make' && !(await isFolder(path)));
    judge[isWrite ? 'write' : 'read'](path);
  }
}

/** For the machine: in the sandbox, mount points look like folders. */
async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

interface NamedPath {
  readonly uri: string;
  /** `make`: an existing folder needs no right to be written. */
  readonly use: 'read' | 'write' | 'make';
  /** By default; false for what acts on a link itself. */
  readonly isLastFollowed?: boolean;
}

const reads = (params: { readonly path: string }): NamedPath[] => [{ uri: params.path, use: 'read' }];
const itself = { isLastFollowed: false } as const;

const pathsOf: { readonly [M in FileMethod]: (params: ParamsOf<M>) => NamedPath[] } = {
  'fs/readFile': reads,
  'fs/getMetadata': reads,
  'fs/canonicalize': reads,
  'fs/readDirectory': reads,
  'fs/walk': reads,
  'fs/writeFile': ({ path }) => [{ uri: path, use: 'write' }],
  'fs/createDirectory': ({ path, recursive }) => [{ uri: path, use: recursive ? 'make' : 'write' }],
  'fs/remove': ({ path }) => [{ uri: path, use: 'write', ...itself }],
  'fs/copy': ({ sourcePath, destinationPath }) => [
    { uri: sourcePath, use: 'read', ...itself },
    { uri: destinationPath, use: 'write' },
  ],
  'fs/open': ({ path, mode }) => [{ uri: path, use: mode === 'read' ? 'read' : 'write' }],
  'fs/readBlock': () => [],
  'fs/writeBlock': () => [],
  'fs/close': () => [],
  'fs/watchMissing': ({ missing, present }) =>
    [...missing, ...(present == null ? [] : [present])].map((uri) => ({ uri, use: 'read', ...itself })),
};
