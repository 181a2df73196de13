import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { PlannedChange } from '../../patch/plan/plan.ts';
import { decisionOf } from '../../patch/review/reviewFile.ts';
import type { Decision } from '../../patch/review/reviewFile.ts';
import type { Reviews } from './reviews.ts';
import { locate, uriOf } from './reviewUris.ts';

/** Marks reviewed files in the tree and on tabs: what happens to them, then what was decided. */
export function registerReviewDecorations(reviews: Reviews): Disposable {
  const store = new DisposableStore();
  const didChange = store.add(new vscode.EventEmitter<vscode.Uri[]>());
  const known = new Map<string, Decision>();
  store.add(
    reviews.onDidClose(({ id, files }) =>
      files.forEach(({ change }) => known.delete(`${id}\0${change.path}`)),
    ),
  );
  store.add(
    reviews.onDidChange(() => {
      const changed: vscode.Uri[] = [];
      for (const review of reviews.list()) {
        for (const file of review.files) {
          const key = `${review.id}\0${file.change.path}`;
          const decision = decisionOf(file);
          if (known.get(key) !== decision) {
            known.set(key, decision);
            changed.push(uriOf(review, file, 'right'));
          }
        }
      }
      if (changed.length > 0) {
        didChange.fire(changed);
      }
    }),
  );
  store.add(
    vscode.window.registerFileDecorationProvider({
      onDidChangeFileDecorations: didChange.event,
      provideFileDecoration(uri) {
        const located = locate(reviews, uri);
        if (located?.side !== 'right') {
          return undefined;
        }
        const { file } = located;
        const decision = decisionOf(file);
        return decision === 'pending' ? changeMarks[file.change.kind] : decisionMarks[decision];
      },
    }),
  );
  return store;
}

const changeMarks: Readonly<Record<PlannedChange['kind'], vscode.FileDecoration>> = {
  create: mark('A', 'New file', 'gitDecoration.addedResourceForeground'),
  update: mark('M', 'Changed', 'gitDecoration.modifiedResourceForeground'),
  delete: mark('D', 'Deleted', 'gitDecoration.deletedResourceForeground'),
  move: mark('R', 'Moved', 'gitDecoration.renamedResourceForeground'),
};

const decisionMarks = {
  accepted: mark('✓', 'Accepted', 'testing.iconPassed'),
  rejected: mark('✗', 'Rejected', 'disabledForeground'),
} as const;

function mark(badge: string, tooltip: string, colour: string): vscode.FileDecoration {
  return new vscode.FileDecoration(badge, tooltip, new vscode.ThemeColor(colour));
}
