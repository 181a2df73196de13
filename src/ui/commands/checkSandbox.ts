import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { SandboxManager } from '../../sandbox/sandboxManager.ts';
import { probes } from '../../sandbox/selfTest/probes.ts';
import { runSelfTest } from '../../sandbox/selfTest/selfTest.ts';
import { selfTestPage, selfTestSummary, selfTestTrouble } from '../../sandbox/selfTest/selfTestPage.ts';
import type { PolicyStore } from '../policyStore.ts';
import { sandboxErrorPage } from '../sandboxHelp.ts';
import type { SandboxHealth } from '../sandboxHealth.ts';
import type { TextPages } from '../textPages.ts';
import { commandIds } from './commandIds.ts';
import { pickRoot } from './pickRoot.ts';
import { withoutLinks } from '../oneLine.ts';

export interface CheckSandboxOptions {
  readonly health: SandboxHealth;
  readonly sandbox: SandboxManager;
  readonly policies: PolicyStore;
  /** The companion program on this machine. */
  readonly companion: string;
  readonly pages: TextPages;
  readonly log: Log;
}

/** Registers the commands that tell whether the sandbox works here, and why not. */
export function registerCheckSandbox(options: CheckSandboxOptions): Disposable {
  const store = new DisposableStore();
  store.add(vscode.commands.registerCommand(commandIds.checkSandbox, () => checkSandbox(options)));
  store.add(
    vscode.commands.registerCommand(commandIds.explainSandboxError, async () => {
      const policy = await choosePolicy(options.policies);
      if (policy === undefined) {
        return;
      }
      await options.health.check();
      const error = options.health.errorFor(policy);
      await (error === undefined || error.kind === 'self-test-failed'
        ? checkSandbox(options)
        : options.pages.show(pageTitle, () => sandboxErrorPage(error)));
    }),
  );
  return store;
}

const pageTitle = 'Cordon Sandbox';

async function checkSandbox({
  health,
  sandbox,
  policies,
  companion,
  pages,
  log,
}: CheckSandboxOptions): Promise<void> {
  const policy = await choosePolicy(policies);
  if (policy === undefined) {
    return;
  }
  const answer = await withProgress('Trying the sandbox', (signal, report) =>
    runSelfTest({ manager: sandbox, policy, companion, signal, onResult: ({ probe }) => report(probe.name) }),
  );
  if (!answer.ok) {
    await health.check();
    await showSandboxError(`${answer.error.message} ${answer.error.hint}`);
    return;
  }
  if (answer.value.results.length < probes.length) {
    await vscode.window.showInformationMessage('The check of the sandbox was stopped; nothing is known.');
    return;
  }
  const trouble = selfTestTrouble(answer.value);
  await health.noteSelfTest(trouble);
  log.info(selfTestSummary(answer.value));
  const page = selfTestPage(answer.value);
  await pages.show(pageTitle, () => page);
  await (trouble === undefined
    ? vscode.window.showInformationMessage(withoutLinks(selfTestSummary(answer.value)))
    : vscode.window.showErrorMessage(withoutLinks(selfTestSummary(answer.value))));
}

/** Undefined when there is nothing to try, which the person is told. */
async function choosePolicy(policies: PolicyStore): Promise<SandboxPolicy | undefined> {
  if (policies.list().length === 0) {
    await vscode.window.showInformationMessage(
      'Open a folder first: the sandbox enforces a folder’s policy.',
    );
    return undefined;
  }
  const root = await pickRoot(policies, 'Whose sandbox is to be checked?');
  if (root?.environment !== undefined) {
    await vscode.window.showInformationMessage(
      withoutLinks(
        `Commands in ${root.name} run on ${root.environment}, and the sandbox there cannot be checked from here: run "cordon sandbox --check" on that machine.`,
      ),
    );
    return undefined;
  }
  const policy = root && policies.policyFor(root);
  if (policy?.ok === false) {
    await vscode.window.showErrorMessage(withoutLinks(`${policy.error.message} ${policy.error.hint}`));
    return undefined;
  }
  if (policy !== undefined && isUnsandboxed(policy.value)) {
    await vscode.window.showWarningMessage(
      withoutLinks(
        `Commands in ${root?.name} run without a sandbox (danger-full-access), so there is nothing to check.`,
      ),
    );
    return undefined;
  }
  return policy?.value;
}

function withProgress<T>(
  title: string,
  task: (signal: AbortSignal, report: (step: string) => void) => Promise<T>,
): Thenable<T> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (progress, token) => {
      const controller = new AbortController();
      const subscription = token.onCancellationRequested(() => controller.abort());
      try {
        return await task(controller.signal, (message) =>
          progress.report({ message, increment: 100 / probes.length }),
        );
      } finally {
        subscription.dispose();
      }
    },
  );
}

/** Tells that nothing can run confined, with the way to the explanation. */
export async function showSandboxError(message: string): Promise<void> {
  const explain = 'Explain';
  if ((await vscode.window.showErrorMessage(withoutLinks(message), explain)) === explain) {
    await vscode.commands.executeCommand(commandIds.explainSandboxError);
  }
}
