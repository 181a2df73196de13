import { chmod } from 'node:fs/promises';
import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import { bytesOf } from '../files/documentBytes.vscode.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import type { DocumentUpdate } from './routePlan.vscode.ts';
import { saveExactly } from './saveExactly.vscode.ts';

/**
 * Lets the disk follow when a person undoes or redoes an applied patch. The editor alone would change the documents
 * and leave the patched bytes on the disk, for the next command to read; and it gives a deleted file back without its
 * permission bits. A document that had unsaved changes before the patch is left to the person.
 */
export class UndoKeeper implements Disposable {
  readonly #store = new DisposableStore();
  readonly #disk: FileSystem;
  readonly #log: Log;
  readonly #documents = new Map<string, WatchedDocument>();
  readonly #modes = new Map<string, number>();
  /** Documents whose undo was announced; that they have unsaved changes now is announced after that. */
  readonly #undone = new Set<vscode.TextDocument>();

  constructor(disk: FileSystem, log: Log) {
    this.#disk = disk;
    this.#log = log;
    this.#store.add(vscode.workspace.onDidChangeTextDocument((event) => void this.#documentChanged(event)));
    this.#store.add(vscode.workspace.onDidCreateFiles(({ files }) => void this.#filesCreated(files)));
  }

  /** From now on, the document's text before and after the patch are saved when undo or redo leads to them. */
  watch({ document, change, textBefore, textAfter }: DocumentUpdate): void {
    const key = document.uri.toString();
    const texts = this.#documents.get(key)?.texts ?? new Set();
    this.#documents.delete(key);
    this.#documents.set(key, { path: change.path, texts: new Set([...texts, textBefore, textAfter]) });
    keepNewest(this.#documents);
  }

  /** From now on, the file gets its permission bits back when undo makes it again. */
  watchDeleted(uri: vscode.Uri, mode: number): void {
    this.#modes.delete(uri.toString());
    this.#modes.set(uri.toString(), mode);
    keepNewest(this.#modes);
  }

  dispose(): void {
    this.#store.dispose();
  }

  async #documentChanged({
    document,
    reason,
    contentChanges,
  }: vscode.TextDocumentChangeEvent): Promise<void> {
    const watched = this.#documents.get(document.uri.toString());
    if (watched === undefined) {
      return;
    }
    if (reason !== undefined) {
      this.#undone.add(document);
    } else if (contentChanges.length > 0) {
      this.#undone.delete(document);
    }
    if (document.isDirty && this.#undone.delete(document) && watched.texts.has(document.getText())) {
      const outcome = await saveExactly(document, watched.path, await bytesOf(document), this.#disk);
      this.#log.debug(`saved ${watched.path} after undo or redo: ${outcome.kind}`);
    }
  }

  async #filesCreated(files: readonly vscode.Uri[]): Promise<void> {
    for (const uri of files) {
      const mode = this.#modes.get(uri.toString());
      if (mode !== undefined) {
        await chmod(uri.fsPath, mode).catch((error: unknown) =>
          this.#log.warn(`${uri.fsPath} did not get its permissions back: ${String(error)}`),
        );
      }
    }
  }
}

interface WatchedDocument {
  readonly path: string;
  readonly texts: ReadonlySet<string>;
}

/** Undo goes back only so far; what is kept here must not grow forever. */
const maxWatched = 500;

function keepNewest(map: Map<string, unknown>): void {
  for (const key of [...map.keys()].slice(0, Math.max(0, map.size - maxWatched))) {
    map.delete(key);
  }
}
