import type { Disposable } from '../../../../base/disposable.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { ParamsOf, ResultOf } from '../../protocol/methods.ts';
import { decodeBase64 } from './base64.ts';
import type { FileExecutor } from './fileExecutor.ts';
import { longestBlock, longestHandleId, mostHandles } from './limits.ts';
import { unknownHandle } from './methods/fileHandles.ts';

export interface OpenedBy {
  readonly executor: FileExecutor;
  readonly held: Disposable;
}

/** Which handles a connection has, and who has opened each. */
export class HandleTable {
  readonly #opened = new Map<string, Promise<OpenedBy>>();
  readonly #executors = new Map<string, FileExecutor>();

  async open(handleId: string, open: () => Promise<OpenedBy>): Promise<ResultOf<'fs/open'>> {
    requireShort(handleId);
    if (this.#opened.has(handleId)) {
      throw invalid(`file handle \`${handleId}\` already exists`);
    }
    if (this.#opened.size >= mostHandles) {
      throw invalid(`at most ${mostHandles} file handles may be open per connection`);
    }
    const opened = open();
    this.#opened.set(handleId, opened);
    try {
      this.#executors.set(handleId, (await opened).executor);
    } catch (error) {
      this.#opened.delete(handleId);
      throw error;
    }
    return { handleId };
  }

  async read(params: ParamsOf<'fs/readBlock'>): Promise<ResultOf<'fs/readBlock'>> {
    if (params.len < 1 || params.len > longestBlock) {
      throw invalid(`file read block length must be between 1 and ${longestBlock}`);
    }
    const { executor, held } = await this.#get(params.handleId);
    try {
      return await executor.call('fs/readBlock', params);
    } catch (error) {
      // It was opened for writing, and is closed now.
      if (error instanceof RpcError && /\(os error 9\)/.test(error.message)) {
        this.#drop(params.handleId);
        held.dispose();
      }
      throw error;
    }
  }

  async write(params: ParamsOf<'fs/writeBlock'>): Promise<ResultOf<'fs/writeBlock'>> {
    const { length } = decodeBase64(params.chunk, '', errorCodes.invalidParams);
    if (length < 1 || length > longestBlock) {
      throw invalid(`file write block length must be between 1 and ${longestBlock}`);
    }
    return (await this.#get(params.handleId)).executor.call('fs/writeBlock', params);
  }

  async close(params: ParamsOf<'fs/close'>): Promise<ResultOf<'fs/close'>> {
    requireShort(params.handleId);
    const opened = await this.#opened.get(params.handleId)?.catch(() => undefined);
    if (opened !== undefined && this.#drop(params.handleId)) {
      opened.held.dispose();
      await opened.executor.call('fs/close', params);
    }
    return {};
  }

  /** It is gone, and with it what it had opened. */
  forget(executor: FileExecutor): void {
    for (const [handleId, owner] of this.#executors) {
      if (owner === executor) {
        this.#drop(handleId);
      }
    }
  }

  #get(handleId: string): Promise<OpenedBy> {
    const opened = this.#opened.get(handleId);
    if (opened === undefined) {
      throw unknownHandle(handleId);
    }
    return opened;
  }

  #drop(handleId: string): boolean {
    this.#executors.delete(handleId);
    return this.#opened.delete(handleId);
  }
}

function requireShort(handleId: string): void {
  if (Buffer.byteLength(handleId) > longestHandleId) {
    throw invalid(`file handle ID must not exceed ${longestHandleId} bytes`);
  }
}

function invalid(message: string): RpcError {
  return new RpcError(errorCodes.invalidRequest, message);
}
