/**
 * The files that a patch is planned against and applied to: the disk, the disk seen through the editor's buffers, or
 * another machine. Paths are absolute. No method follows a link in the last component.
 */
export interface FileSystem {
  /** What is there; a missing entry, or one below a file, is an answer. Throws {@link FileError} when it cannot tell. */
  stat(path: string): Promise<Entry>;
  /** The whole content of a file. Throws {@link FileError}. */
  read(path: string): Promise<Buffer>;
  /**
   * Prepares a change without making it visible: what can fail early (space, permissions, a stale expectation) fails
   * here. Throws {@link FileError}, and has then cleaned up after itself.
   */
  stage(change: FileChange): Promise<StagedChange>;
}

export type Entry = MissingEntry | FileEntry | FolderEntry | LinkEntry | OtherEntry;

export interface MissingEntry {
  readonly kind: 'missing';
}

export interface FileEntry {
  readonly kind: 'file';
  /** Permission bits. */
  readonly mode: number;
  /** Bytes. */
  readonly size: number;
  /** Equal as long as neither the content nor the identity of the file changed. */
  readonly version: string;
}

export interface FolderEntry {
  readonly kind: 'folder';
}

export interface LinkEntry {
  readonly kind: 'link';
  readonly target: string;
}

/** A device, a socket, a pipe. */
export interface OtherEntry {
  readonly kind: 'other';
}

/** A change of one entry. `expected` is what planning saw there; anything else makes the change fail as stale. */
export type FileChange = WriteChange | RemoveChange | RenameChange;

export interface WriteChange {
  readonly kind: 'write';
  readonly path: string;
  readonly expected: Entry;
  readonly bytes: Buffer;
  /**
   * Permission bits of the result; those of the replaced file, or the default of new files, when left out. `new`: a
   * new file that shares nothing with the one it replaces, neither bits nor owner nor hard links.
   */
  readonly mode?: number | 'new' | undefined;
}

export interface RemoveChange {
  readonly kind: 'remove';
  readonly path: string;
  readonly expected: Entry;
}

export interface RenameChange {
  readonly kind: 'rename';
  readonly path: string;
  readonly expected: Entry;
  readonly toPath: string;
  readonly toExpected: Entry;
}

/**
 * A prepared change. Exactly one of `commit` followed by `release`, `commit` followed by `revert`, or `release` alone,
 * also after a `commit` that threw. Several are reverted in the reverse order of their commits.
 */
export interface StagedChange {
  /** Makes the change visible in one step. Throws {@link FileError}, and has then changed nothing. */
  commit(): Promise<void>;
  /**
   * Restores the entry exactly: content, identity, permissions, and folders that the change made. Throws
   * {@link FileError} with `savedAs` when it cannot, for one because the entry was changed since.
   */
  revert(): Promise<void>;
  /** Removes what was kept beside the file. */
  release(): Promise<void>;
}

export type FileOperation = 'read' | 'write' | 'mkdir' | 'delete' | 'rename' | 'stat';

export interface FileErrorOptions extends ErrorOptions {
  /** Where the original lies when it could not be put back. */
  readonly savedAs?: string | undefined;
}

/** A failed access to one file. */
export class FileError extends Error {
  readonly operation: FileOperation;
  readonly path: string;
  /** The system's code (`ENOENT`), `ESTALE` when the entry is not the expected one. */
  readonly code: string;
  readonly savedAs: string | undefined;

  constructor(operation: FileOperation, path: string, code: string, options?: FileErrorOptions) {
    super(`${operation} ${path}: ${code}`, options);
    this.operation = operation;
    this.path = path;
    this.code = code;
    this.savedAs = options?.savedAs;
  }
}
