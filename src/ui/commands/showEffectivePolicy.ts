import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Result } from '../../base/result.ts';
import type { GrantStore } from '../../runtime/approvals/grantStore.ts';
import type { PolicyError, Root } from '../../runtime/roots.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { effectivePolicyPage } from '../effectivePolicyPage.ts';
import type { PolicyStore } from '../policyStore.ts';
import type { SandboxHealth } from '../sandboxHealth.ts';
import type { TextPages } from '../textPages.ts';
import { commandIds } from './commandIds.ts';
import { pickRoot } from './pickRoot.ts';

/** Registers the command that shows what commands may do in a root, on a page that follows every change. */
export function registerShowEffectivePolicy({
  policies,
  grants,
  health,
  pages,
}: {
  readonly policies: PolicyStore;
  readonly grants: GrantStore;
  readonly health: SandboxHealth;
  readonly pages: TextPages;
}): Disposable {
  const store = new DisposableStore();
  store.add(policies.onDidChange(() => pages.refresh()));
  store.add(health.onDidChange(() => pages.refresh()));
  store.add(
    vscode.commands.registerCommand(commandIds.showEffectivePolicy, async (row?: { readonly root: Root }) => {
      const root =
        row?.root ?? policies.active() ?? (await pickRoot(policies, 'Whose policy do you want to see?'));
      if (root !== undefined) {
        await pages.show(`Sandbox of ${root.name}`, () =>
          effectivePolicyPage(root, policies.policyFor(root), {
            launcher: launcherWords(policies.policyFor(root), health),
            parentEnv: process.env,
            approval: policies.approvalPolicyFor(root),
            grants: grants.list(root),
            now: new Date(),
          }),
        );
      }
    }),
  );
  return store;
}

function launcherWords(
  policy: Result<SandboxPolicy, PolicyError>,
  health: SandboxHealth,
): string | undefined {
  const isConfined = policy.ok && !isUnsandboxed(policy.value);
  const launcher = isConfined ? health.launcherFor(policy.value) : undefined;
  if (launcher?.ok === false) {
    return `Nothing, so no command runs: ${launcher.error.message} ${launcher.error.hint}`;
  }
  if (launcher === undefined) {
    return undefined;
  }
  const { launcher: name, version, path, weaknesses } = launcher.value;
  const weaker = weaknesses.map((weakness) => `\n- Weaker here: ${weakness}`).join('');
  return `${name} ${version} (${path}).${weaker}`;
}
