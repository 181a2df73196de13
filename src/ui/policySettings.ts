import * as vscode from 'vscode';
import type { PolicyInput, UncheckedSettings } from '../sandbox/policy/input.ts';

/** What settings say about a root's policy, told apart by who wrote them; nothing is checked yet. */
export type PolicySettings = Pick<PolicyInput, 'user' | 'profiles' | 'profile' | 'workspace'>;

export const sandboxSection = 'cordon.sandbox';
export const approvalsSection = 'cordon.approvals';
export const rulesSection = 'cordon.rules';

/** What a workspace may narrow. The other settings the editor does not take from a workspace either. */
const narrowable = [
  ...['mode', 'files', 'git', 'caches', 'tmp', 'network', 'hosts'],
  ...['limits.processes', 'limits.memoryMiB', 'limits.fileSizeMiB', 'limits.cpuSeconds'],
];

const ofUser = [
  ...narrowable,
  ...['writableRoots', 'sockets', 'environment.inherit', 'environment.ignoreDefaultExcludes'],
  ...['environment.exclude', 'environment.set', 'environment.includeOnly'],
];

/** Reads the settings for one folder; only values that somebody wrote, never a default. */
export function readPolicySettings(folder: vscode.Uri): PolicySettings {
  const { user, workspace } = readerOf(sandboxSection, folder);
  return {
    user: gather(ofUser, user),
    profiles: user('profiles'),
    // Empty is the default, and as good as absent.
    profile: user('profile') === '' ? undefined : user('profile'),
    workspace: gather(narrowable, workspace),
  };
}

/** Which patches of one folder wait for a person, as the user and the workspace want it; nothing is checked yet. */
export function readReviewSetting(folder: vscode.Uri): {
  readonly user: unknown;
  readonly workspace: unknown;
} {
  const { user, workspace } = readerOf('cordon.patch', folder);
  return { user: user('review'), workspace: workspace('review') };
}

/** When commands of one folder are asked about, as the user and the workspace want it; nothing is checked yet. */
export function readApprovalSettings(folder: vscode.Uri): {
  readonly user: unknown;
  readonly granular: unknown;
  readonly workspace: unknown;
} {
  const { user, workspace } = readerOf(approvalsSection, folder);
  return { user: user('policy'), granular: user('granular'), workspace: workspace('policy') };
}

/** Rules about commands of one folder, by the user and by the workspace; nothing is checked yet. */
export function readRuleSettings(folder: vscode.Uri): {
  readonly files: unknown;
  readonly user: unknown;
  readonly workspace: unknown;
} {
  const { user, workspace } = readerOf(rulesSection, folder);
  return { files: user('files'), user: user('commands'), workspace: workspace('commands') };
}

/** How long a question waits for a person; a value that makes no sense is as good as none. */
export function approvalExpiryMs(): number {
  const minutes: unknown = vscode.workspace.getConfiguration(approvalsSection).get('expireAfterMinutes');
  return (typeof minutes === 'number' && minutes >= 1 ? Math.min(minutes, maxExpiryMinutes) : 10) * 60_000;
}

const maxExpiryMinutes = 1_440;

/** Values of one section for one folder, told apart by who wrote them. */
function readerOf(section: string, folder: vscode.Uri) {
  const configuration = vscode.workspace.getConfiguration(section, folder);
  return {
    user: (name: string): unknown => configuration.inspect(name)?.globalValue,
    workspace: (name: string): unknown => {
      const found = configuration.inspect(name);
      return found?.workspaceFolderValue ?? found?.workspaceValue;
    },
  };
}

/** The values that are set, with `limits.processes` as a field of `limits`. */
function gather(names: readonly string[], read: (name: string) => unknown): UncheckedSettings {
  const settings: Record<string, unknown> = {};
  for (const name of names) {
    const value = read(name);
    const [field = '', inner] = name.split('.');
    if (value !== undefined) {
      settings[field] =
        inner === undefined ? value : { ...(settings[field] as object | undefined), [inner]: value };
    }
  }
  return settings;
}
