import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import type { Disposable } from '../base/disposable.ts';
import type { PolicyError, Root } from '../runtime/roots.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { environmentSetting, environmentsSetting } from '../runtime/environments/environments.ts';
import type { Environments } from '../runtime/environments/environments.ts';
import { commandIds } from './commands/commandIds.ts';
import { localPlaceWords, placeWords } from './environments/environmentWords.ts';
import type { PolicyStore } from './policyStore.ts';
import { clauseLines, policySummary } from './policyWords.ts';
import type { SandboxHealth } from './sandboxHealth.ts';

/** Shows the active root's policy and environment; a click changes them. Hidden where there is no root. */
export function createStatusBar(
  policies: PolicyStore,
  health: SandboxHealth,
  environments: Environments,
): Disposable {
  const store = new DisposableStore();
  const item = store.add(
    vscode.window.createStatusBarItem('sandbox', vscode.StatusBarAlignment.Left, priority),
  );
  item.name = 'Cordon Sandbox';
  item.command = commandIds.changeSandbox;
  const update = (): void => {
    const face = faceOf(policies, health, environments);
    if (face === undefined) {
      item.hide();
      return;
    }
    item.text = `$(${face.icon}) ${face.text}`;
    item.tooltip = face.tooltip;
    item.backgroundColor = face.colour === undefined ? undefined : new vscode.ThemeColor(face.colour);
    item.accessibilityInformation = { label: `Cordon sandbox: ${face.text}` };
    item.show();
  };
  store.add(policies.onDidChange(update));
  store.add(policies.onDidChangeActive(update));
  store.add(health.onDidChange(update));
  store.add(environments.onDidChange(update));
  update();
  return store;
}

const priority = 50;
const warning = 'statusBarItem.warningBackground';
const errorColour = 'statusBarItem.errorBackground';

interface Face {
  readonly icon: string;
  readonly text: string;
  readonly tooltip: vscode.MarkdownString;
  readonly colour?: string;
}

function faceOf(policies: PolicyStore, health: SandboxHealth, environments: Environments): Face | undefined {
  const roots = policies.list();
  if (roots.length === 0) {
    return undefined;
  }
  const root = policies.active();
  if (root === undefined) {
    return {
      icon: 'shield',
      text: `${roots.length} sandboxes`,
      tooltip: lines('The sandbox of each folder', []),
    };
  }
  const prefix = roots.length > 1 ? `${root.name}: ` : '';
  return root.environment === undefined
    ? faceOfRoot(root, { prefix, place: localPlaceWords(environments.local.state) }, policies, health)
    : faceElsewhere(root, root.environment, prefix, { policies, health, environments });
}

interface Where {
  /** In front of the policy. */
  readonly prefix: string;
  readonly place: string;
}

interface Known {
  readonly policies: PolicyStore;
  readonly health: SandboxHealth;
  readonly environments: Environments;
}

/** Of a root whose commands run on another machine, which decides what its policy is. */
function faceElsewhere(
  root: Root,
  name: string,
  prefix: string,
  { policies, health, environments }: Known,
): Face {
  const environment = environments.get(name);
  if (!environment.ok) {
    const error = { field: environmentsSetting, ...environment.error };
    return faceOfError(`${prefix}Invalid environment setting`, root, error);
  }
  const { address, state } = environment.value;
  if (state.kind === 'failed') {
    return {
      icon: 'error',
      text: `${prefix}${name}: no connection`,
      tooltip: lines(`No command runs in ${root.name}`, [state.error.message, state.error.hint]),
      colour: errorColour,
    };
  }
  const place = placeWords(name, address, state);
  const policy = policies.policyFor(root);
  if (!policy.ok && policy.error.field === environmentSetting) {
    const { message, hint } = policy.error;
    return { icon: 'shield', text: `${prefix}${name}`, tooltip: lines(place, [message, hint]) };
  }
  return faceOfRoot(root, { prefix: `${prefix}${name}: `, place }, policies, health);
}

function faceOfRoot(root: Root, where: Where, policies: PolicyStore, health: SandboxHealth): Face {
  const policy = policies.policyFor(root);
  const approval = policies.approvalPolicyFor(root);
  if (!policy.ok) {
    return faceOfError(`${where.prefix}Invalid sandbox setting`, root, policy.error);
  }
  if (!approval.ok) {
    return faceOfError(`${where.prefix}Invalid approval setting`, root, approval.error);
  }
  return faceOfPolicy(root, policy.value, where, health);
}

/** No command of an agent runs. */
function faceOfError(text: string, root: Root, { field, message, hint }: PolicyError): Face {
  return {
    icon: 'error',
    text,
    tooltip: lines(`${root.name}: ${field}`, [message, hint], [openSettings(field)]),
    colour: errorColour,
  };
}

function faceOfPolicy(
  root: Root,
  policy: SandboxPolicy,
  { prefix, place }: Where,
  health: SandboxHealth,
): Face {
  const facts = [...clauseLines(policy), place];
  const text = `${prefix}${policySummary(policy)}`;
  if (isUnsandboxed(policy)) {
    const tooltip = lines(`Commands in ${root.name} run without a sandbox`, facts);
    return { icon: 'warning', text, tooltip, colour: warning };
  }
  // Of another machine's sandbox nothing is known here.
  const error = root.environment === undefined ? health.errorFor(policy) : undefined;
  if (error !== undefined) {
    const { kind, message, hint } = error;
    const isDoubted = kind === 'self-test-failed';
    return {
      icon: 'error',
      text: `${prefix}${isDoubted ? 'Sandbox does not hold' : 'Sandbox not available'}`,
      tooltip: lines(
        isDoubted ? `Do not rely on the sandbox of ${root.name}` : `No command runs in ${root.name}`,
        [message, hint],
        [{ label: 'Explain', command: commandIds.explainSandboxError }],
      ),
      colour: errorColour,
    };
  }
  return { icon: 'shield', text, tooltip: lines(`The sandbox of ${root.name}`, facts) };
}

interface Link {
  readonly label: string;
  readonly command: string;
  readonly argument?: string;
}

function openSettings(field: string): Link {
  return { label: 'Open Settings', command: 'workbench.action.openSettings', argument: field };
}

const selectEnvironment: Link = {
  label: 'Select Environment',
  command: commandIds.selectEnvironment,
};
const showPolicy: Link = { label: 'Show Effective Policy', command: commandIds.showEffectivePolicy };

function lines(title: string, facts: readonly string[], links: readonly Link[] = []): vscode.MarkdownString {
  const all = [...links, showPolicy, selectEnvironment];
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: all.map(({ command }) => command) };
  text.appendText(title);
  for (const fact of facts) {
    text.appendMarkdown('\n\n- ').appendText(fact);
  }
  text.appendMarkdown('\n\nClick to change it.');
  for (const { label, command, argument } of all) {
    const query = argument === undefined ? '' : `?${encodeURIComponent(JSON.stringify([argument]))}`;
    text.appendMarkdown(` [${label}](command:${command}${query})`);
  }
  return text;
}
