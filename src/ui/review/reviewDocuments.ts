import * as vscode from 'vscode';
import { DisposableStore, toDisposable } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import { editsBetween, splitLines, withoutLineEnd } from '../../patch/text/lines.ts';
import { mergeEdits } from '../../patch/review/mergeEdits.ts';
import { textRight } from '../../patch/review/reviewFile.ts';
import type { Reviews } from './reviews.ts';
import { addressOf, locate } from './reviewUris.ts';

const saveDelayMs = 400;

/**
 * Keeps reviews and their open documents the same: what is typed goes into the review at once, and is saved soon, so
 * that closing a tab neither asks nor loses anything.
 */
export class ReviewDocuments implements Disposable {
  readonly #reviews: Reviews;
  readonly #store = new DisposableStore();
  readonly #timers = new Map<vscode.TextDocument, ReturnType<typeof setTimeout>>();
  /** The text that the person last saw: a key may be pressed before a decision has reached the document. */
  readonly #seen = new Map<vscode.TextDocument, string>();

  constructor(reviews: Reviews) {
    this.#reviews = reviews;
    const see = (document: vscode.TextDocument): void => {
      if (locate(reviews, document.uri)?.side === 'right') {
        this.#seen.set(document, document.getText());
      }
    };
    vscode.workspace.textDocuments.forEach(see);
    this.#store.add(vscode.workspace.onDidOpenTextDocument(see));
    this.#store.add(vscode.workspace.onDidCloseTextDocument((document) => this.#seen.delete(document)));
    this.#store.add(vscode.workspace.onDidChangeTextDocument((event) => this.#takeOver(event)));
    this.#store.add(reviews.onDidChange(() => this.#updateDirtyDocuments()));
    this.#store.add(toDisposable(() => [...this.#timers.values()].forEach(clearTimeout)));
  }

  /** Saves what was typed into a review. */
  async flush(reviewId: string): Promise<void> {
    const documents = vscode.workspace.textDocuments.filter(
      ({ uri, isDirty }) => isDirty && addressOf(uri)?.reviewId === reviewId,
    );
    await Promise.all(documents.map((document) => this.#save(document)));
  }

  dispose(): void {
    this.#store.dispose();
  }

  #takeOver({ document, reason }: vscode.TextDocumentChangeEvent): void {
    const located = locate(this.#reviews, document.uri);
    if (located?.side !== 'right') {
      return;
    }
    const right = textRight(located.file);
    const text = document.getText();
    // A clean document that changed without the person's undo was loaded from the review, which it may be behind; or
    // it is about to be told dirty, with an event of its own.
    if (!document.isDirty && reason === undefined) {
      if (isSameText(right, text)) {
        this.#seen.set(document, text);
      }
      return;
    }
    const seen = this.#seen.get(document);
    this.#seen.set(document, text);
    this.#reviews.edit(located.target, mergeInto(right, seen, text));
    clearTimeout(this.#timers.get(document));
    this.#timers.set(
      document,
      setTimeout(() => void this.#save(document), saveDelayMs),
    );
  }

  async #save(document: vscode.TextDocument): Promise<void> {
    clearTimeout(this.#timers.get(document));
    this.#timers.delete(document);
    if (document.isClosed || !document.isDirty) {
      return;
    }
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const isActive =
      tab instanceof vscode.TabInputTextDiff && tab.modified.toString() === document.uri.toString();
    if (isActive) {
      // Formatters and the like have no place in text that is being typed, or in lines that the patch leaves alone.
      await vscode.commands.executeCommand('workbench.action.files.saveWithoutFormatting');
    } else {
      await document.save();
    }
  }

  /** The editor loads clean documents itself. Unsaved ones get just the difference, below the person's cursor. */
  #updateDirtyDocuments(): void {
    for (const document of vscode.workspace.textDocuments) {
      const located = document.isDirty ? locate(this.#reviews, document.uri) : undefined;
      const text = located?.side === 'right' ? textRight(located.file) : undefined;
      const edits = text === undefined ? [] : editsOf(document, text);
      if (edits.length > 0) {
        const edit = new vscode.WorkspaceEdit();
        edit.set(document.uri, edits);
        void vscode.workspace.applyEdit(edit);
      }
    }
  }
}

/** What was typed, on top of what the review became since the person last saw it. */
function mergeInto(right: string | undefined, seen: string | undefined, typed: string): string {
  if (right === undefined || seen === undefined || isSameText(right, seen)) {
    return typed;
  }
  const [ours, base, theirs] = [typed, seen, right].map((text) => splitLines(withLineFeeds(text)));
  return mergeEdits(ours ?? [], base ?? [], theirs ?? [])?.join('') ?? typed;
}

/** Documents have one kind of line ends, whatever the file has. */
function isSameText(a: string | undefined, b: string): boolean {
  return a !== undefined && withLineFeeds(a) === withLineFeeds(b);
}

function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function editsOf(document: vscode.TextDocument, text: string): vscode.TextEdit[] {
  const end = document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
  const wanted = splitLines(text).map((line) => {
    const words = withoutLineEnd(line);
    return words === line ? line : words + end;
  });
  return editsBetween(splitLines(document.getText()), wanted).map(({ start, removed, added }) => {
    const range = new vscode.Range(start, 0, start + removed, 0);
    return vscode.TextEdit.replace(document.validateRange(range), added.join(''));
  });
}
