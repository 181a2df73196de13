import { resolve } from 'node:path';
import type { Disposable } from '../../../../base/disposable.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import { pathOf, uriOf } from '../../protocol/fileUri.ts';
import type { MethodName, NotificationParams, ParamsOf, ResultOf } from '../../protocol/methods.ts';
import { decodeBase64 } from './base64.ts';
import type { Links } from './held.ts';
import type { Judge } from './judge.ts';
import { readFile, writeFile } from './methods/content.ts';
import { copy } from './methods/copy.ts';
import { createDirectory } from './methods/createDirectory.ts';
import { FileHandles } from './methods/fileHandles.ts';
import { canonicalize, getMetadata } from './methods/metadata.ts';
import { readDirectory } from './methods/readDirectory.ts';
import { remove } from './methods/remove.ts';
import { walk } from './methods/walk.ts';
import { watchMissing } from './methods/watchMissing.ts';
import { fileError } from './osErrors.ts';

export type FileMethod = Extract<MethodName, `fs/${string}`>;

/** With the bytes that the server has room for. */
export type Bounded<M extends FileMethod> = ParamsOf<M> & { readonly atMost?: number };

/** What the methods of one connection share. */
interface Ground {
  readonly judge: () => Judge;
  readonly handles: FileHandles;
  /** The one watch, if any. */
  watch?: Disposable | undefined;
  readonly missingChanged: (event: NotificationParams<'fs/missingChanged'>) => void;
}

/**
 * The file methods on this machine, as this process may use it: the same code serves calls without a sandbox in the
 * server and those with one in a worker inside. What they throw is an `RpcError`.
 */
export class FileMethods {
  readonly #ground: Ground;

  constructor(ground: Pick<Ground, 'judge' | 'missingChanged'>) {
    this.#ground = { ...ground, handles: new FileHandles() };
  }

  async call<M extends FileMethod>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>> {
    try {
      return await run[method](this.#ground, params);
    } catch (error) {
      throw fileError(error);
    }
  }

  endWatch(): void {
    this.#ground.watch?.dispose();
    this.#ground.watch = undefined;
  }

  dispose(): void {
    this.endWatch();
    this.#ground.handles.dispose();
  }
}

const nothing = {};

const run: {
  readonly [M in FileMethod]: (ground: Ground, params: ParamsOf<M>) => Promise<ResultOf<M>>;
} = {
  'fs/readFile': async ({ judge }, params: Bounded<'fs/readFile'>) => ({
    dataBase64: await readFile(nativePath(params.path), linksOf(params), judge(), params.atMost),
  }),
  'fs/writeFile': async ({ judge }, params) => {
    await writeFile(nativePath(params.path), params.dataBase64, linksOf(params), judge());
    return nothing;
  },
  'fs/createDirectory': async ({ judge }, params) => {
    await createDirectory(nativePath(params.path), params.recursive, linksOf(params), judge());
    return nothing;
  },
  'fs/getMetadata': async ({ judge }, params) =>
    getMetadata(nativePath(params.path), linksOf(params), judge()),
  'fs/canonicalize': async ({ judge }, params) => ({
    path: uriOf(await canonicalize(nativePath(params.path), judge())),
  }),
  'fs/readDirectory': async ({ judge }, params: Bounded<'fs/readDirectory'>) =>
    readDirectory(nativePath(params.path), judge(), params.atMost),
  'fs/walk': async ({ judge }, params: Bounded<'fs/walk'>) =>
    walk(nativePath(params.path), params.options, judge(), params.atMost),
  'fs/remove': async ({ judge }, params) => {
    await remove(nativePath(params.path), params, linksOf(params), judge());
    return nothing;
  },
  'fs/copy': async ({ judge }, params) => {
    const [source, destination] = [nativePath(params.sourcePath), nativePath(params.destinationPath)];
    await copy(source, destination, params.recursive, judge());
    return nothing;
  },
  'fs/open': async ({ judge, handles }, params) => {
    await handles.open(params.handleId, nativePath(params.path), params.mode, judge());
    return { handleId: params.handleId };
  },
  'fs/readBlock': async ({ handles }, params) => handles.read(params.handleId, params.offset, params.len),
  'fs/writeBlock': async ({ handles }, params) => {
    const bytes = decodeBase64(params.chunk, '', errorCodes.invalidParams);
    await handles.write(params.handleId, params.offset, bytes);
    return nothing;
  },
  'fs/close': async ({ handles }, params) => {
    await handles.close(params.handleId);
    return nothing;
  },
  'fs/watchMissing': async (ground, params) => {
    const { watchId } = params;
    const observed = {
      missing: params.missing.map(nativePath),
      present: params.present == null ? undefined : nativePath(params.present),
    };
    ground.watch?.dispose();
    ground.watch = await watchMissing(observed, ground.judge(), () => ground.missingChanged({ watchId }));
    return { watching: ground.watch !== undefined };
  },
};

/** Without dot segments, and without a slash at the end. What means no path here is the request's fault, not the field's. */
export function nativePath(uri: string): string {
  try {
    return resolve(pathOf(uri));
  } catch (error) {
    throw new RpcError(errorCodes.invalidRequest, (error as Error).message);
  }
}

function linksOf({ followSymlinks }: { readonly followSymlinks: boolean }): Links {
  return followSymlinks ? 'all' : 'none';
}
