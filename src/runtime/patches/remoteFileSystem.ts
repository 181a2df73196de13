import { posix } from 'node:path';
import { nameBeside } from '../../patch/files/newFile.ts';
import type {
  Entry,
  FileChange,
  FileOperation,
  FileSystem,
  RemoveChange,
  RenameChange,
  StagedChange,
  WriteChange,
} from '../../patch/files/fileSystem.ts';
import { FileError } from '../../patch/files/fileSystem.ts';
import type { ExecClient } from '../execServer/client/execClient.ts';
import { errorCodes, RpcError } from '../execServer/protocol/errors.ts';
import { pathOf, uriOf } from '../execServer/protocol/fileUri.ts';
import type { ParamsFor } from '../execServer/protocol/methods.ts';

/** The sandbox of a call; null: none. */
type Sandbox = NonNullable<ParamsFor<'fs/readFile'>['sandbox']> | null;

/**
 * The files of another machine, by the file methods of the protocol alone: for servers that are not Cordon's own. There
 * is no rename among them, so files are written in place, and put back from what was read or copied aside. Permission
 * bits cannot be told: a replaced file keeps its own, a new one gets the default.
 */
export function createRemoteFileSystem(client: Pick<ExecClient, 'call'>, sandbox: Sandbox): FileSystem {
  const calls = new FileCalls(client, sandbox);
  return {
    stat: (path) => calls.stat(path),
    read: (path) => calls.read(path),
    stage: (change) => stage(calls, change),
  };
}

/** As far as they are empty, innermost first. */
export async function removeEmptyFolders(
  client: Pick<ExecClient, 'call'>,
  folders: readonly string[],
): Promise<void> {
  await new FileCalls(client, null).removeFolders(folders.toReversed());
}

function stage(calls: FileCalls, change: FileChange): Promise<StagedChange> {
  switch (change.kind) {
    case 'write':
      return stageWrite(calls, change);
    case 'remove':
      return stageRemove(calls, change);
    case 'rename':
      return stageRename(calls, change);
  }
}

async function stageWrite(calls: FileCalls, change: WriteChange): Promise<StagedChange> {
  const { path, expected, bytes, mode } = change;
  await calls.requireFileOrNothing('write', path, expected);
  const before = expected.kind === 'file' ? await calls.read(path) : undefined;
  const folders = await calls.missingFolders(path);
  let made: readonly string[] = [];

  async function restore(): Promise<void> {
    if (before === undefined) {
      await calls.remove('write', path);
    } else {
      await calls.write(path, before);
    }
    await calls.removeFolders(made);
  }

  return {
    async commit() {
      await calls.require('write', path, expected);
      made = await calls.makeFolders(folders, path);
      try {
        if (mode === 'new' && before !== undefined) {
          await calls.remove('write', path);
        }
        await calls.write(path, bytes);
      } catch (error) {
        await restore();
        throw error;
      }
    },
    async revert() {
      await calls.requireContent(path, bytes);
      await restore();
    },
    release: async () => undefined,
  };
}

async function stageRemove(calls: FileCalls, { path, expected }: RemoveChange): Promise<StagedChange> {
  if (expected.kind === 'folder' || expected.kind === 'missing') {
    throw new FileError('delete', path, expected.kind === 'folder' ? 'EISDIR' : 'ENOENT');
  }
  await calls.require('delete', path, expected);
  const kept = aside(path);
  let isKept = false;
  return {
    async commit() {
      await calls.require('delete', path, expected);
      isKept = true;
      await calls.copy('delete', path, kept);
      await calls.remove('delete', path);
    },
    async revert() {
      await calls.require('write', path, { kind: 'missing' });
      await restoring(path, kept, () => calls.copy('write', kept, path));
      await calls.remove('delete', kept);
    },
    release: async () => (isKept ? calls.remove('delete', kept) : undefined),
  };
}

async function stageRename(calls: FileCalls, change: RenameChange): Promise<StagedChange> {
  const { path, expected, toPath, toExpected } = change;
  const removal = await stageRemove(calls, { kind: 'remove', path, expected });
  await calls.requireFileOrNothing('write', toPath, toExpected);
  const folders = await calls.missingFolders(toPath);
  const kept = aside(toPath);
  const isReplacing = toExpected.kind === 'file';
  let made: readonly string[] = [];
  let isKept = false;

  async function restore(): Promise<void> {
    if (isKept) {
      await restoring(toPath, kept, () => calls.copy('write', kept, toPath));
    } else {
      await calls.remove('write', toPath);
    }
    await calls.removeFolders(made);
  }

  return {
    async commit() {
      await calls.require('write', toPath, toExpected);
      if (isReplacing) {
        await calls.copy('write', toPath, kept);
        isKept = true;
      }
      made = await calls.makeFolders(folders, toPath);
      try {
        if (isReplacing) {
          await calls.remove('write', toPath); // its permission bits go with it
        }
        await calls.copy('write', path, toPath);
        await removal.commit();
      } catch (error) {
        await restore();
        throw error;
      }
    },
    async revert() {
      await removal.revert();
      await restore();
    },
    async release() {
      await removal.release();
      if (isKept) {
        await calls.remove('write', kept);
      }
    },
  };
}

function aside(path: string): string {
  return posix.join(posix.dirname(path), nameBeside(posix.basename(path)));
}

/** Runs a part of a revert; its failure says where the original lies. */
async function restoring(path: string, savedAs: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw error instanceof FileError
      ? new FileError('write', path, error.code, { cause: error, savedAs })
      : error;
  }
}

/** The file methods of one server under one sandbox, with errors as {@link FileSystem} has them. */
class FileCalls {
  readonly #client: Pick<ExecClient, 'call'>;
  readonly #sandbox: Sandbox;

  constructor(client: Pick<ExecClient, 'call'>, sandbox: Sandbox) {
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /** Not following a link is the one way to tell one: it is refused then. */
  async stat(path: string): Promise<Entry> {
    const metadata = await this.#metadata(path, false);
    if (metadata === 'missing') {
      return { kind: 'missing' };
    }
    if (metadata !== 'refused') {
      const { isFile, isDirectory, size, modifiedAtMs } = metadata;
      if (isFile) {
        return { kind: 'file', mode: 0o644, size, version: `${size}:${modifiedAtMs}` };
      }
      return { kind: isDirectory ? 'folder' : 'other' };
    }
    const followed = await this.#metadata(path, true);
    if (followed === 'missing' || followed === 'refused' || !followed.isSymlink) {
      // A link to nothing: where it leads cannot be told, and so not where a write would go.
      throw new FileError('stat', path, followed === 'missing' ? 'ENOENT' : 'EACCES');
    }
    const target = await this.#attempt('stat', path, () =>
      this.#client.call('fs/canonicalize', { path: uriOf(path), sandbox: this.#sandbox }),
    );
    return { kind: 'link', target: pathOf(target.path) };
  }

  async read(path: string): Promise<Buffer> {
    const { dataBase64 } = await this.#attempt('read', path, () =>
      this.#client.call('fs/readFile', { ...this.#at(path), followSymlinks: false }),
    );
    return Buffer.from(dataBase64, 'base64');
  }

  async write(path: string, bytes: Buffer): Promise<void> {
    await this.#attempt('write', path, () =>
      this.#client.call('fs/writeFile', {
        ...this.#at(path),
        followSymlinks: false,
        dataBase64: bytes.toString('base64'),
      }),
    );
  }

  async remove(operation: FileOperation, path: string): Promise<void> {
    await this.#attempt(operation, path, () =>
      this.#client.call('fs/remove', { ...this.#at(path), recursive: false, force: true }),
    );
  }

  async copy(operation: FileOperation, path: string, toPath: string): Promise<void> {
    await this.#attempt(operation, path, () =>
      this.#client.call('fs/copy', {
        sourcePath: uriOf(path),
        destinationPath: uriOf(toPath),
        recursive: false,
        sandbox: this.#sandbox,
      }),
    );
  }

  async require(operation: FileOperation, path: string, expected: Entry): Promise<void> {
    const entry = await this.stat(path);
    const isSame =
      entry.kind === 'file'
        ? expected.kind === 'file' && entry.version === expected.version
        : entry.kind === 'link'
          ? expected.kind === 'link' && entry.target === expected.target
          : entry.kind === expected.kind;
    if (!isSame) {
      throw new FileError(operation, path, 'ESTALE');
    }
  }

  async requireFileOrNothing(operation: FileOperation, path: string, expected: Entry): Promise<void> {
    if (expected.kind !== 'file' && expected.kind !== 'missing') {
      throw new FileError(operation, path, expected.kind === 'folder' ? 'EISDIR' : 'EEXIST');
    }
    await this.require(operation, path, expected);
  }

  async requireContent(path: string, bytes: Buffer): Promise<void> {
    const isSame = (await this.stat(path)).kind === 'file' && (await this.read(path)).equals(bytes);
    if (!isSame) {
      throw new FileError('write', path, 'ESTALE');
    }
  }

  /** Outermost first. What stands in the place of one counts as missing: an earlier change may remove it. */
  async missingFolders(path: string): Promise<readonly string[]> {
    const missing: string[] = [];
    for (
      let folder = posix.dirname(path);
      folder !== posix.sep && (await this.stat(folder)).kind !== 'folder';
      folder = posix.dirname(folder)
    ) {
      missing.unshift(folder);
    }
    return missing;
  }

  /** All or none; gives those that did not exist. */
  async makeFolders(folders: readonly string[], forPath: string): Promise<readonly string[]> {
    const made: string[] = [];
    try {
      for (const folder of folders) {
        const { kind } = await this.stat(folder);
        if (kind === 'folder') {
          continue;
        }
        await this.#attempt('mkdir', forPath, () =>
          this.#client.call('fs/createDirectory', {
            ...this.#at(folder),
            followSymlinks: false,
            recursive: false,
          }),
        );
        made.push(folder);
      }
    } catch (error) {
      await this.removeFolders(made);
      throw error;
    }
    return made;
  }

  /** As far as nobody has put anything there since. */
  async removeFolders(made: readonly string[]): Promise<void> {
    for (const folder of made.toReversed()) {
      try {
        await this.remove('delete', folder);
      } catch (error) {
        if (!(error instanceof FileError)) {
          throw error;
        }
      }
    }
  }

  async #metadata(path: string, followSymlinks: boolean) {
    try {
      return await this.#client.call('fs/getMetadata', { ...this.#at(path), followSymlinks });
    } catch (error) {
      const code = error instanceof RpcError ? codeOf(error) : undefined;
      if (code === 'ENOENT' || code === 'ENOTDIR') {
        return 'missing';
      }
      if (!followSymlinks && error instanceof RpcError && error.code === errorCodes.invalidRequest) {
        return 'refused';
      }
      throw code === undefined ? error : new FileError('stat', path, code, { cause: error });
    }
  }

  #at(path: string): { readonly path: string; readonly sandbox: Sandbox } {
    return { path: uriOf(path), sandbox: this.#sandbox };
  }

  async #attempt<T>(operation: FileOperation, path: string, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw error instanceof RpcError
        ? new FileError(operation, path, codeOf(error), { cause: error })
        : error;
    }
  }
}

const words: readonly (readonly [RegExp, string])[] = [
  [/read-only file system/i, 'EROFS'],
  [/no space left/i, 'ENOSPC'],
  [/not a directory/i, 'ENOTDIR'],
  [/is a directory|is not a file/i, 'EISDIR'],
  [/file exists/i, 'EEXIST'],
];

/** The system's code, as far as the server's answer tells it. */
function codeOf({ code, message }: RpcError): string {
  const [, known] = words.find(([pattern]) => pattern.test(message)) ?? [];
  if (known !== undefined) {
    return known;
  }
  return { [errorCodes.notFound]: 'ENOENT', [errorCodes.invalidRequest]: 'EACCES' }[code] ?? 'EIO';
}
