import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { SessionManager } from '../../runtime/sessions/sessionManager.ts';
import { commandIds } from '../commands/commandIds.ts';
import { revokeGrants } from '../grants/revokeGrants.ts';
import { focusedRow } from './focusedRow.ts';
import { makeChange } from './makeChange.ts';
import type { PolicyNode, PolicyTreeOptions } from './policyTree.ts';
import { PolicyTree } from './policyTree.ts';

const policyView = 'cordon.policy';

export interface PolicyViewOptions extends PolicyTreeOptions {
  readonly sessions: SessionManager;
}

/** Registers the view of the policies, and what its rows do. */
export function registerPolicyView(options: PolicyViewOptions): Disposable {
  const store = new DisposableStore();
  const tree = store.add(new PolicyTree(options));
  const view = store.add(
    vscode.window.createTreeView(policyView, { treeDataProvider: tree, showCollapseAll: true }),
  );
  // Files with rules change without a word.
  store.add(view.onDidChangeVisibility(({ visible }) => void (visible && tree.refresh())));
  const onRow = (id: string, act: (node: PolicyNode & { readonly kind: 'row' }) => Promise<void>): void => {
    store.add(
      // A key gives no row.
      vscode.commands.registerCommand(id, async (given?: PolicyNode) => {
        const node = given ?? (await focusedRow(view));
        if (node?.kind === 'row') {
          await act(node);
        }
      }),
    );
  };
  const change = async ({ row, root }: PolicyNode & { readonly kind: 'row' }): Promise<void> => {
    if (row.change !== undefined) {
      await makeChange(row.change, root);
    }
  };
  onRow(commandIds.editClause, change);
  onRow(commandIds.showClauseOwner, change);
  onRow(commandIds.revokeGrant, async ({ row: { grant } }) => {
    if (grant !== undefined) {
      await revokeGrants([grant], options);
    }
  });
  return store;
}
