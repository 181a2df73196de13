import * as vscode from 'vscode';
import type { Root } from '../../runtime/roots.ts';
import type { PolicyStore } from '../policyStore.ts';
import { policySummary } from '../policyWords.ts';

/** Asks which root is meant, unless there is only one. */
export async function pickRoot(policies: PolicyStore, question: string): Promise<Root | undefined> {
  const roots = policies.list();
  if (roots.length <= 1) {
    return roots[0];
  }
  const items = roots.map((root) => {
    const policy = policies.policyFor(root);
    return {
      label: root.name,
      description: policy.ok ? policySummary(policy.value) : 'invalid sandbox setting',
      detail: root.path,
      root,
    };
  });
  return (await vscode.window.showQuickPick(items, { placeHolder: question, matchOnDetail: true }))?.root;
}
