import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Result } from '../../base/result.ts';
import type { GrantStore } from '../../runtime/approvals/grantStore.ts';
import type { Environments } from '../../runtime/environments/environments.ts';
import type { PolicyError, Root } from '../../runtime/roots.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { stateOfEnvironment } from '../environments/environmentWords.ts';
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
  environments,
}: {
  readonly policies: PolicyStore;
  readonly grants: GrantStore;
  readonly health: SandboxHealth;
  readonly pages: TextPages;
  readonly environments: Environments;
}): Disposable {
  const store = new DisposableStore();
  store.add(policies.onDidChange(() => pages.refresh()));
  store.add(health.onDidChange(() => pages.refresh()));
  store.add(environments.onDidChange(() => pages.refresh()));
  store.add(
    vscode.commands.registerCommand(commandIds.showEffectivePolicy, async (row?: { readonly root: Root }) => {
      const root =
        row?.root ?? policies.active() ?? (await pickRoot(policies, 'Whose policy do you want to see?'));
      if (root !== undefined) {
        await pages.show(`Sandbox of ${root.name}`, () => {
          // The root may have another environment by now.
          const current = policies.list().find(({ path }) => path === root.path) ?? root;
          const policy = policies.policyFor(current);
          return effectivePolicyPage(current, policy, {
            launcher: launcherWords(policy, health),
            elsewhere: elsewhereWords(current, environments),
            parentEnv: process.env,
            approval: policies.approvalPolicyFor(current),
            grants: grants.list(current),
            now: new Date(),
          });
        });
      }
    }),
  );
  return store;
}

/** Undefined for this machine. */
function elsewhereWords({ path, environment: name }: Root, environments: Environments): string | undefined {
  if (name === undefined) {
    return undefined;
  }
  const environment = environments.get(name);
  if (!environment.ok) {
    return `Commands of \`${path}\` run nowhere: ${environment.error.message} ${environment.error.hint}`;
  }
  const { address, folder = '/', state } = environment.value;
  return `Commands of \`${path}\` run in \`${folder}\` of the environment ${name} (${address}): ${stateOfEnvironment(state)}`;
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
