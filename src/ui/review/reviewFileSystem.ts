import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import { bytesAfter, bytesBefore, textBefore, textRight } from '../../patch/review/reviewFile.ts';
import type { ReviewFile } from '../../patch/review/reviewFile.ts';
import type { Reviews } from './reviews.ts';
import { locate } from './reviewUris.ts';
import type { LocatedFile } from './reviewUris.ts';

/**
 * The sides of reviewed files for the diff editor. Text is given as UTF-8 with a byte order mark, which outranks
 * whatever encoding the settings name; the file's own encoding and mark come back when the review is applied.
 */
export class ReviewFileSystem implements vscode.FileSystemProvider, Disposable {
  readonly #reviews: Reviews;
  readonly #store = new DisposableStore();
  readonly #didChangeFile = this.#store.add(new vscode.EventEmitter<vscode.FileChangeEvent[]>());
  /** What was given last, by the document. */
  readonly #served = new Map<string, Served>();
  readonly onDidChangeFile = this.#didChangeFile.event;

  constructor(reviews: Reviews) {
    this.#reviews = reviews;
    this.#store.add(reviews.onDidChange(() => this.#tellChanges()));
  }

  watch(): vscode.Disposable {
    // Every change is told anyway.
    return new vscode.Disposable(() => {});
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const located = await this.#locate(uri);
    // A document that is being typed in is compared with what it last was on "disk" before it is saved.
    const served = (isBeingTyped(uri) && this.#served.get(uri.toString())) || this.#serve(uri, located);
    return {
      type: vscode.FileType.File,
      ctime: located.review.createdAt,
      mtime: served.mtime,
      size: served.bytes.length,
      ...(isEditable(located) ? {} : { permissions: vscode.FilePermission.Readonly }),
    };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return this.#serve(uri, await this.#locate(uri)).bytes;
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const located = await this.#locate(uri);
    if (!isEditable(located)) {
      throw vscode.FileSystemError.NoPermissions(uri);
    }
    this.#reviews.edit(located.target, new TextDecoder().decode(content));
    this.#serve(uri, await this.#locate(uri));
  }

  readDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.FileNotADirectory(uri);
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#store.dispose();
  }

  async #locate(uri: vscode.Uri): Promise<LocatedFile> {
    await this.#reviews.ready;
    const located = locate(this.#reviews, uri);
    if (located === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return located;
  }

  #serve(uri: vscode.Uri, located: LocatedFile): Served {
    const name = uri.toString();
    const { file } = located;
    const last = this.#served.get(name);
    if (last?.file === file) {
      return last;
    }
    const bytes = bytesOf(located);
    const isSame = last?.bytes.equals(bytes) === true;
    const mtime = isSame ? last.mtime : Math.max(Date.now(), (last?.mtime ?? 0) + 1);
    const served = { file, bytes, mtime };
    this.#served.set(name, served);
    return served;
  }

  #tellChanges(): void {
    const changes: vscode.FileChangeEvent[] = [];
    for (const [name, last] of this.#served) {
      const uri = vscode.Uri.parse(name, true);
      const located = locate(this.#reviews, uri);
      if (located === undefined) {
        this.#served.delete(name);
      } else if (!isBeingTyped(uri) && this.#serve(uri, located).mtime !== last.mtime) {
        changes.push({ type: vscode.FileChangeType.Changed, uri });
      }
    }
    if (changes.length > 0) {
      this.#didChangeFile.fire(changes);
    }
  }
}

interface Served {
  /** A value: as long as it is the same, so is its content. */
  readonly file: ReviewFile;
  readonly bytes: Buffer;
  readonly mtime: number;
}

function isBeingTyped(uri: vscode.Uri): boolean {
  const name = uri.toString();
  return vscode.workspace.textDocuments.some(
    (document) => document.isDirty && document.uri.toString() === name,
  );
}

function isEditable({ side, file, review }: LocatedFile): boolean {
  return side === 'right' && file.pieces !== undefined && review.state.kind === 'waiting';
}

function bytesOf({ file, side }: LocatedFile): Buffer {
  const text = side === 'before' ? textBefore(file) : textRight(file);
  const bytes = side === 'before' ? bytesBefore(file.change) : bytesAfter(file.change);
  return text === undefined ? (bytes ?? Buffer.alloc(0)) : Buffer.from(`\ufeff${text}`);
}
