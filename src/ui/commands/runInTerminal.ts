import * as vscode from 'vscode';
import type { Environments } from '../../runtime/environments/environments.ts';
import type { PersonRequest, ToolRuntime } from '../../runtime/toolRuntime.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { PolicyStore } from '../policyStore.ts';
import type { SandboxHealth } from '../sandboxHealth.ts';
import type { SessionTerminals } from '../sessionTerminals.ts';
import { showSandboxError } from './checkSandbox.ts';
import { reportEnd } from './reportEnd.ts';
import { withoutLinks } from '../oneLine.ts';
import { tellNoTerminals } from '../tellNoTerminals.ts';

export interface RunInTerminalOptions {
  readonly policies: PolicyStore;
  readonly runtime: Pick<ToolRuntime, 'runForPerson' | 'denials' | 'prewarm'>;
  readonly terminals: SessionTerminals;
  readonly health: SandboxHealth;
  readonly environments: Environments;
}

/** Runs what a person asked for in a terminal that takes the focus, and tells how it ended, or why it cannot run. */
export async function runInTerminal(
  { runtime, terminals, health, policies, environments }: RunInTerminalOptions,
  request: PersonRequest,
): Promise<void> {
  // The command would run where nobody sees it.
  if (!vscode.workspace.isTrusted) {
    await tellNoTerminals();
    return;
  }
  const started = await runtime.runForPerson(request);
  if (!started.ok) {
    const { environment } = request.root;
    if (environment !== undefined && isTold(environments, environment)) {
      return;
    }
    const { message, hint } = started.error;
    const policy = policies.policyFor(request.root);
    const availability = await health.check();
    if (
      environment !== undefined ||
      !policy.ok ||
      isUnsandboxed(policy.value) ||
      availability.launcherFor(policy.value).ok
    ) {
      await vscode.window.showErrorMessage(withoutLinks(`${message} ${hint}`));
    } else {
      await showSandboxError(`${message} ${hint}`);
    }
    return;
  }
  terminals.show(started.value);
  await started.value.closed;
  await reportEnd(started.value, terminals, runtime.denials);
}

/** When there is no connection, a notification has said so, with what to do. */
function isTold(environments: Environments, name: string): boolean {
  const environment = environments.get(name);
  return environment.ok && environment.value.state.kind === 'failed';
}
