import * as vscode from 'vscode';
import type { PolicyInput } from '../sandbox/policy/input.ts';

/** What settings say about a root's policy, told apart by who wrote them; nothing is checked yet. */
export type PolicySettings = Required<Pick<PolicyInput, 'user' | 'workspace'>>;

export const sandboxSection = 'cordon.sandbox';

/**
 * Reads the settings for one folder. The workspace's side is read only for the clauses that it may narrow:
 * the others are machine settings, which the editor does not take from a workspace either.
 */
export function readPolicySettings(folder: vscode.Uri): PolicySettings {
  const { user, workspace } = readerOf(sandboxSection, folder);
  const environment = definedOnly({
    inherit: user('environment.inherit'),
    set: user('environment.set'),
  });
  return {
    user: {
      mode: user('mode'),
      network: user('network'),
      tmp: user('tmp'),
      writableRoots: user('writableRoots'),
      environment: Object.keys(environment).length > 0 ? environment : undefined,
    },
    workspace: { mode: workspace('mode'), network: workspace('network'), tmp: workspace('tmp') },
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

function definedOnly(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
