import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Root } from '../../runtime/roots.ts';
import type { Session } from '../../runtime/sessions/session.ts';
import type { ToolRuntime } from '../../runtime/toolRuntime.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { PolicyStore } from '../policyStore.ts';
import type { SandboxHealth } from '../sandboxHealth.ts';
import type { SessionTerminals } from '../sessionTerminals.ts';
import { askCommandLine } from './askCommandLine.ts';
import { showSandboxError } from './checkSandbox.ts';
import type { CommandHistory } from './commandHistory.ts';
import { commandIds } from './commandIds.ts';
import { pickRoot } from './pickRoot.ts';
import { reportEnd } from './reportEnd.ts';

export interface RunSandboxedOptions {
  readonly policies: PolicyStore;
  readonly runtime: Pick<ToolRuntime, 'runForPerson'>;
  readonly terminals: SessionTerminals;
  readonly health: SandboxHealth;
  readonly history: CommandHistory;
}

/** Registers the command that runs a command line under a root's policy, in a terminal. */
export function registerRunSandboxed(options: RunSandboxedOptions): Disposable {
  return vscode.commands.registerCommand(commandIds.runSandboxed, async (folder?: unknown) => {
    if (!vscode.workspace.isTrusted) {
      await tellNoTerminals();
      return;
    }
    const place = await choosePlace(options.policies, folder);
    if (place === undefined) {
      return;
    }
    const commandLine = await askCommandLine(`Run in ${place.label}`, options.history);
    if (commandLine !== undefined) {
      await options.history.remember(commandLine);
      await run(options, place, commandLine);
    }
  });
}

interface Place {
  readonly root: Root;
  readonly cwd: string;
  readonly label: string;
}

async function choosePlace(policies: PolicyStore, folder: unknown): Promise<Place | undefined> {
  if (policies.list().length === 0) {
    await vscode.window.showErrorMessage(
      'Open a folder of this machine first: commands run inside a folder.',
    );
    return undefined;
  }
  if (folder instanceof vscode.Uri) {
    const root = policies.rootOf(folder);
    const relative = vscode.workspace.asRelativePath(folder, true);
    return root && { root, cwd: folder.fsPath, label: relative === folder.fsPath ? root.name : relative };
  }
  const root = await pickRoot(policies, 'Which folder does the command run in?');
  return root && { root, cwd: root.path, label: root.name };
}

async function run(
  { runtime, terminals, health, policies }: RunSandboxedOptions,
  { root, cwd }: Place,
  commandLine: string,
): Promise<void> {
  const started = await runtime.runForPerson({ root, commandLine, cwd });
  if (!started.ok) {
    const { message, hint } = started.error;
    const policy = policies.policyFor(root);
    const availability = await health.check();
    if (!policy.ok || isUnsandboxed(policy.value) || availability.launcherFor(policy.value).ok) {
      await vscode.window.showErrorMessage(`${message} ${hint}`);
    } else {
      await showSandboxError(`${message} ${hint}`);
    }
    return;
  }
  terminals.show(started.value);
  await ended(started.value);
  await reportEnd(started.value, terminals);
}

function ended(session: Session): Promise<void> {
  return new Promise((resolve) => {
    const subscription = session.onDidClose(() => {
      subscription.dispose();
      resolve();
    });
    if (session.isClosed) {
      subscription.dispose();
      resolve();
    }
  });
}

/** The editor opens no terminal in an untrusted workspace: the command would run where nobody sees it. */
async function tellNoTerminals(): Promise<void> {
  const manage = 'Manage Workspace Trust';
  const answer = await vscode.window.showWarningMessage(
    'This workspace is not trusted, and the editor opens no terminals in it. Trust it to run commands by hand.',
    manage,
  );
  if (answer === manage) {
    await vscode.commands.executeCommand('workbench.trust.manage');
  }
}
