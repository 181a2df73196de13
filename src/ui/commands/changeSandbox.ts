import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Root } from '../../runtime/roots.ts';
import { networkModes, sandboxModes } from '../../sandbox/policy/policy.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { Grant, Grants } from '../grants.ts';
import type { PolicyStore } from '../policyStore.ts';
import { modeWords, networkWords } from '../policyWords.ts';
import { commandIds } from './commandIds.ts';
import { pickRoot } from './pickRoot.ts';

/** Registers the command behind the status bar: choose mode and network for one root. */
export function registerChangeSandbox(policies: PolicyStore, grants: Grants): Disposable {
  return vscode.commands.registerCommand(commandIds.changeSandbox, async () => {
    if (!vscode.workspace.isTrusted) {
      await offerTrust();
      return;
    }
    const root = policies.active() ?? (await pickRoot(policies, 'Whose sandbox do you want to change?'));
    if (root === undefined) {
      return;
    }
    const choice = await pickChange(root, policies, grants.get(root.path));
    if (choice !== undefined && (await isMeant(choice.grant, root))) {
      await grants.set(root.path, choice.grant);
      await tellWhenNarrowed(root, policies, choice.grant);
    }
  });
}

interface Choice extends vscode.QuickPickItem {
  /** Undefined removes the grant. */
  readonly grant: Grant | undefined;
}

async function pickChange(
  root: Root,
  policies: PolicyStore,
  current: Grant | undefined,
): Promise<Choice | undefined> {
  const policy = policies.policyFor(root);
  const items = choices(policy.ok ? policy.value : undefined, current);
  const picked = await vscode.window.showQuickPick<Choice | Separator>(items, {
    title: `Sandbox of ${root.name}`,
    placeHolder: 'What may commands do in this folder?',
    matchOnDetail: true,
  });
  return picked !== undefined && 'grant' in picked ? picked : undefined;
}

type Separator = vscode.QuickPickItem & { readonly kind: vscode.QuickPickItemKind.Separator };

function choices(
  policy: SandboxPolicy | undefined,
  current: Grant | undefined,
): readonly (Choice | Separator)[] {
  const mark = (isCurrent: boolean): { readonly description?: string } =>
    isCurrent ? { description: 'current' } : {};
  return [
    separator('Files'),
    ...sandboxModes.map((mode) => ({
      ...modeWords[mode],
      ...mark(policy?.mode === mode),
      grant: { ...current, mode },
    })),
    separator('Network'),
    ...networkModes.map((network) => ({
      ...networkWords[network],
      ...mark(policy?.network === network),
      grant: { ...current, network },
    })),
    separator('Settings'),
    {
      label: 'Reset to settings',
      detail: 'Forgets what was chosen here: your settings decide.',
      grant: undefined,
    },
  ];
}

function separator(label: string): Separator {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

async function isMeant(grant: Grant | undefined, root: Root): Promise<boolean> {
  if (grant?.mode !== 'danger-full-access') {
    return true;
  }
  const remove = 'Remove the Sandbox';
  const answer = await vscode.window.showWarningMessage(
    `Run commands in ${root.name} without a sandbox?`,
    {
      modal: true,
      detail:
        'Commands of agents in this folder may then read, change and delete everything that you can, and reach every network. Agents still ask before each command. The status bar shows a warning until you choose another mode.',
    },
    remove,
  );
  return answer === remove;
}

/** The workspace's own settings outrank a choice when they are stricter: without a word it would seem lost. */
async function tellWhenNarrowed(root: Root, policies: PolicyStore, grant: Grant | undefined): Promise<void> {
  const policy = policies.policyFor(root);
  if (!policy.ok) {
    await vscode.window.showErrorMessage(`${policy.error.message} ${policy.error.hint}`);
    return;
  }
  const { mode, network, sources } = policy.value;
  const isNarrowed =
    (grant?.mode !== undefined && grant.mode !== mode && sources.mode === 'workspace') ||
    (grant?.network !== undefined && grant.network !== network && sources.network === 'workspace');
  if (isNarrowed) {
    await vscode.window.showInformationMessage(
      `The settings of the workspace itself are stricter and stay in force: ${modeWords[mode].label}, network ${network}.`,
    );
  }
}

async function offerTrust(): Promise<void> {
  const manage = 'Manage Workspace Trust';
  const answer = await vscode.window.showInformationMessage(
    'This workspace is not trusted: commands only read, and reach no network. Trust it to change that.',
    manage,
  );
  if (answer === manage) {
    await vscode.commands.executeCommand('workbench.trust.manage');
  }
}
