import * as vscode from 'vscode';
import { DisposableStore, toDisposable } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Reviews } from './reviews.ts';

/** Long enough for a program that saves in several steps. */
const settleMs = 500;

/**
 * Plans waiting patches anew when their files change, on disk or in a document. It is for the eye: decisions look at
 * the files themselves, also at those outside of the workspace.
 */
export function watchReviewedFiles(reviews: Reviews): Disposable {
  const store = new DisposableStore();
  const changed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const note = (uri: vscode.Uri): void => {
    if (uri.scheme !== 'file' || reviews.list().length === 0) {
      return;
    }
    changed.add(uri.fsPath);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const paths = new Set(changed);
      changed.clear();
      void reviews.refresh(paths);
    }, settleMs);
  };
  const watcher = store.add(vscode.workspace.createFileSystemWatcher('**/*'));
  store.add(watcher.onDidChange(note));
  store.add(watcher.onDidCreate(note));
  store.add(watcher.onDidDelete(note));
  store.add(vscode.workspace.onDidChangeTextDocument(({ document }) => note(document.uri)));
  store.add(toDisposable(() => clearTimeout(timer)));
  return store;
}
