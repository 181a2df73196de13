import type { FileHandle } from 'node:fs/promises';
import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import type { ParamsOf, ResultOf } from '../../../protocol/methods.ts';
import type { Judge } from '../judge.ts';
import { SystemError } from '../osErrors.ts';
import { fill, writeAll } from './content.ts';
import { openToRead, openToReplace } from './openFile.ts';

type Mode = ParamsOf<'fs/open'>['mode'];

interface OpenFile {
  readonly handle: FileHandle;
  readonly mode: Mode;
}

/** The files that were opened by `fs/open`. Whoever numbers them has checked the ids and how many there are. */
export class FileHandles {
  readonly #files = new Map<string, OpenFile>();
  #isDisposed = false;

  async open(handleId: string, path: string, mode: Mode, judge: Judge): Promise<void> {
    const open = mode === 'read' ? openToRead : openToReplace;
    const handle = await open(path, 'all', judge);
    if (this.#isDisposed) {
      await handle.close();
      throw new SystemError('EBADF');
    }
    this.#files.set(handleId, { handle, mode });
  }

  async read(handleId: string, offset: number, length: number): Promise<ResultOf<'fs/readBlock'>> {
    const { handle, mode } = this.#get(handleId);
    if (mode !== 'read') {
      await this.close(handleId);
      throw new SystemError('EBADF');
    }
    const buffer = Buffer.allocUnsafe(length);
    const read = await fill(handle, buffer, offset);
    return { chunk: buffer.toString('base64', 0, read), eof: read < length };
  }

  /** Beyond the end, zeros fill the gap. */
  async write(handleId: string, offset: number, bytes: Buffer): Promise<void> {
    const { handle, mode } = this.#get(handleId);
    if (mode === 'read') {
      throw new SystemError('EBADF');
    }
    await writeAll(handle, bytes, offset);
  }

  /** Unknown ones are as good as closed. */
  async close(handleId: string): Promise<void> {
    const file = this.#files.get(handleId);
    this.#files.delete(handleId);
    await file?.handle.close();
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const handleId of [...this.#files.keys()]) {
      this.close(handleId).catch(() => undefined);
    }
  }

  #get(handleId: string): OpenFile {
    const file = this.#files.get(handleId);
    if (file === undefined) {
      throw unknownHandle(handleId);
    }
    return file;
  }
}

export function unknownHandle(handleId: string): RpcError {
  return new RpcError(errorCodes.notFound, `unknown file handle \`${handleId}\``);
}
