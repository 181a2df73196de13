import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import { localName } from '../../runtime/environments/environment.ts';
import { environmentSetting } from '../../runtime/environments/environments.ts';
import type { PolicyError, Root } from '../../runtime/roots.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { RootChoice, RootChoices } from '../rootChoices.ts';
import type { PolicyStore } from '../policyStore.ts';
import { modeWords, networkWords } from '../policyWords.ts';
import { commandIds } from './commandIds.ts';
import { pickRoot } from './pickRoot.ts';
import { sandboxChoices } from './sandboxChoices.ts';
import type { Choice } from './sandboxChoices.ts';
import { withoutLinks } from '../oneLine.ts';

/** Registers the command behind the status bar: choose mode, network and profile for one root. */
export function registerChangeSandbox(policies: PolicyStore, choices: RootChoices): Disposable {
  return vscode.commands.registerCommand(commandIds.changeSandbox, async (row?: { readonly root: Root }) => {
    if (!vscode.workspace.isTrusted) {
      await offerTrust();
      return;
    }
    const root =
      row?.root ?? policies.active() ?? (await pickRoot(policies, 'Whose sandbox do you want to change?'));
    if (root === undefined) {
      return;
    }
    const policy = policies.policyFor(root);
    const approval = policies.approvalPolicyFor(root);
    if (!policy.ok && policy.error.field === environmentSetting) {
      // Nothing can be changed that is not known; another environment can be chosen, or a connection made.
      await vscode.commands.executeCommand(commandIds.selectEnvironment, { root });
    } else if (!policy.ok) {
      await showProblem(policy.error, root, choices);
    } else if (!approval.ok) {
      await showProblem(approval.error, root);
    } else {
      await change(root, policy.value, policies, choices);
    }
  });
}

async function change(
  root: Root,
  policy: SandboxPolicy,
  policies: PolicyStore,
  choices: RootChoices,
): Promise<void> {
  const choice = await vscode.window.showQuickPick<Choice>(
    sandboxChoices({
      policy,
      grant: choices.get(root.path),
      profiles: policies.profileNames(root),
      profile: policies.profileOf(root),
      environment: root.environment ?? localName,
    }),
    {
      title: `Sandbox of ${root.name}`,
      placeHolder: 'What may commands do in this folder?',
      matchOnDetail: true,
    },
  );
  if (choice?.command !== undefined) {
    await vscode.commands.executeCommand(choice.command, { root });
    return;
  }
  if (choice === undefined || !('grant' in choice)) {
    return;
  }
  const changed = policies.policyWith(root, choice.grant);
  const isOpened =
    changed.ok && changed.value.mode === 'danger-full-access' && policy.mode !== changed.value.mode;
  if (isOpened && !(await isMeant(root))) {
    return;
  }
  await choices.set(root.path, choice.grant);
  await tellWhatElseHolds(root, policies, choices, choice.grant);
}

async function isMeant(root: Root): Promise<boolean> {
  const remove = 'Remove the Sandbox';
  const answer = await vscode.window.showWarningMessage(
    withoutLinks(`Run commands in ${root.name} without a sandbox?`),
    {
      modal: true,
      detail:
        'Commands of agents in this folder may then read, change and delete everything that you can, and reach every network. Agents still ask before each command. The status bar shows a warning until you choose another mode.',
    },
    remove,
  );
  return answer === remove;
}

/** Without a word a choice would seem lost that something stricter outranks, or that has nothing to allow yet. */
async function tellWhatElseHolds(
  root: Root,
  policies: PolicyStore,
  choices: RootChoices,
  grant: RootChoice | undefined,
): Promise<void> {
  const policy = policies.policyFor(root);
  if (!policy.ok) {
    // On another machine the new settings are just being asked about.
    if (policy.error.field !== environmentSetting) {
      await showProblem(policy.error, root, choices);
    }
    return;
  }
  const { mode, network, sources, hosts } = policy.value;
  const narrower = [
    grant?.mode !== undefined && grant.mode !== mode ? sources.mode : undefined,
    grant?.network !== undefined && grant.network !== network ? sources.network : undefined,
  ].find((source) => source === 'workspace' || source === 'managed');
  if (narrower !== undefined) {
    const owner =
      narrower === 'managed'
        ? 'The policy of your administrator is'
        : 'The settings of the workspace itself are';
    await vscode.window.showInformationMessage(
      withoutLinks(
        `${owner} stricter and stay in force: ${modeWords[mode].label}, ${networkWords[network].label.toLowerCase()}.`,
      ),
    );
  } else if (grant?.network === 'allow-list' && hosts.allow.length === 0) {
    const answer = await vscode.window.showInformationMessage(
      'No host is allowed yet, so commands reach nothing.',
      openSettings,
    );
    if (answer === openSettings) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'cordon.sandbox.hosts');
    }
  }
}

const openSettings = 'Open Settings';

/** `choices`: where the person's own choice for the root may be the cause. */
async function showProblem(
  { field, message, hint }: PolicyError,
  root: Root,
  choices?: RootChoices,
): Promise<void> {
  const show = 'Show Effective Policy';
  const forget = 'Forget My Choice Here';
  const answer = await vscode.window.showErrorMessage(
    withoutLinks(`${message} ${hint}`),
    openSettings,
    show,
    ...(choices?.get(root.path) === undefined ? [] : [forget]),
  );
  if (answer === openSettings) {
    await vscode.commands.executeCommand('workbench.action.openSettings', field);
  } else if (answer === show) {
    await vscode.commands.executeCommand(commandIds.showEffectivePolicy);
  } else if (answer === forget) {
    await choices?.set(root.path, undefined);
  }
}

async function offerTrust(): Promise<void> {
  const manage = 'Manage Workspace Trust';
  const show = 'Show Effective Policy';
  const answer = await vscode.window.showInformationMessage(
    'This workspace is not trusted: commands only read, and reach no network. Trust it to change that.',
    manage,
    show,
  );
  if (answer === manage) {
    await vscode.commands.executeCommand('workbench.trust.manage');
  } else if (answer === show) {
    await vscode.commands.executeCommand(commandIds.showEffectivePolicy);
  }
}
