import * as vscode from 'vscode';
import type { Result } from '../../base/result.ts';
import { environmentSetting } from '../../runtime/environments/environments.ts';
import type { PolicyError, Root } from '../../runtime/roots.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
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
      description: `${root.environment === undefined ? '' : `${root.environment}: `}${summary(policy)}`,
      detail: root.path,
      root,
    };
  });
  return (await vscode.window.showQuickPick(items, { placeHolder: question, matchOnDetail: true }))?.root;
}

function summary(policy: Result<SandboxPolicy, PolicyError>): string {
  if (policy.ok) {
    return policySummary(policy.value);
  }
  return policy.error.field === environmentSetting ? 'policy not known yet' : 'invalid sandbox setting';
}
