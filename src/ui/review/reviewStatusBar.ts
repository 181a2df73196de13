import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Reviews } from './reviews.ts';
import { reviewsView } from './reviewTree.ts';
import { count } from './reviewWords.ts';

/** How many patches wait; a click shows them. Hidden while none does. */
export function createReviewStatusBar(reviews: Reviews): Disposable {
  const store = new DisposableStore();
  const item = store.add(
    vscode.window.createStatusBarItem('patchReviews', vscode.StatusBarAlignment.Left, priority),
  );
  item.name = 'Cordon Patch Reviews';
  // The editor makes this command for each view.
  item.command = `${reviewsView}.focus`;
  const update = (): void => {
    const waiting = reviews.list();
    if (waiting.length === 0) {
      item.hide();
      return;
    }
    const words = `${count(waiting.length, 'patch', 'patches')} to review`;
    item.text = `$(git-pull-request) ${waiting.length}`;
    item.tooltip = tooltipOf(
      words,
      waiting.map(({ title }) => title),
    );
    item.accessibilityInformation = { label: `Cordon: ${words}` };
    item.show();
  };
  store.add(reviews.onDidChange(update));
  update();
  return store;
}

/** Right of the sandbox. */
const priority = 49;

function tooltipOf(words: string, titles: readonly string[]): vscode.MarkdownString {
  const text = new vscode.MarkdownString().appendText(words);
  for (const title of titles) {
    text.appendMarkdown('\n\n- ').appendText(title);
  }
  return text.appendMarkdown('\n\nClick to show them.');
}
