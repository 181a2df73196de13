import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { PlannedChange } from '../../patch/plan/plan.ts';
import { decisionOf } from '../../patch/review/reviewFile.ts';
import type { Reviews } from './reviews.ts';
import { locate, uriOf } from './reviewUris.ts';

/** Marks reviewed files in the tree and on tabs: what happens to them, then what was decided. */
export function registerReviewDecorations(reviews: Reviews): Disposable {
  const store = new DisposableStore();
  const didChange = store.add(new vscode.EventEmitter<vscode.Uri[]>());
  store.add(
    reviews.onDidChange(() =>
      didChange.fire(
        reviews.list().flatMap((review) => review.files.map((file) => uriOf(review, file, 'right'))),
      ),
    ),
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
