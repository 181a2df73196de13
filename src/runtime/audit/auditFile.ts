import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';

const newline = 0x0a;

/** A file that only grows, by whole lines, and that nobody else writes. */
export class AuditFile {
  readonly #handle: FileHandle;
  #size = 0;
  #endsInLine = false;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** A new one, for its owner's eyes. Throws when the name is taken, or leads elsewhere. */
  static async create(path: string): Promise<AuditFile> {
    const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    return new AuditFile(await open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Appends a line with one write, so that a process that is killed leaves it whole or, at worst, cut off at the end.
   * Throws when the disk does not take all of it; what it took of it then is a line of its own, which nobody can read.
   */
  async append(line: string): Promise<void> {
    const bytes = Buffer.from(this.#endsInLine ? `\n${line}\n` : `${line}\n`);
    let written = 0;
    try {
      // A disk takes less than all only when it is about to be full: the next write says so.
      while (written < bytes.length) {
        written += (await this.#handle.write(bytes, written)).bytesWritten;
      }
    } finally {
      this.#size += written;
      this.#endsInLine = written === 0 ? this.#endsInLine : bytes[written - 1] !== newline;
    }
  }

  /** Somebody removed it: what is written now is in no folder. */
  async isRemoved(): Promise<boolean> {
    return (await this.#handle.stat()).nlink === 0;
  }

  /** Returns when the disk has it, not only the system. */
  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
