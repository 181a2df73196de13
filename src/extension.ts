import * as vscode from 'vscode';
import { DisposableStore } from './base/disposable.ts';
import { createAccessUnder } from './patch/accessUnder.ts';
import { createToolRuntime } from './runtime/toolRuntime.ts';
import { createSandboxManager } from './sandbox/createSandboxManager.ts';
import { registerChangeSandbox } from './ui/commands/changeSandbox.ts';
import { registerCheckSandbox } from './ui/commands/checkSandbox.ts';
import { CommandHistory } from './ui/commands/commandHistory.ts';
import { commandIds } from './ui/commands/commandIds.ts';
import { registerRunSandboxed } from './ui/commands/runSandboxed.ts';
import { registerSessionCommands } from './ui/commands/sessionCommands.ts';
import { Grants } from './ui/grants.ts';
import { PolicyStore } from './ui/policyStore.ts';
import { SandboxHealth } from './ui/sandboxHealth.ts';
import { SessionTerminals } from './ui/sessionTerminals.ts';
import { registerSleepProgress } from './ui/sleepProgress.ts';
import { createStatusBar } from './ui/statusBar.ts';
import { registerTools } from './ui/tools/registerTools.ts';

let stop: (() => Promise<void>) | undefined;

/** Builds everything and registers it; whatever takes time happens on first use. */
export function activate(context: vscode.ExtensionContext): void {
  const store = new DisposableStore();
  const log = store.add(vscode.window.createOutputChannel('Cordon', { log: true }));
  const grants = store.add(new Grants(context.globalState));
  const policies = store.add(new PolicyStore(grants, log));
  const sandbox = createSandboxManager({
    platform: process.platform,
    helperPath: context.asAbsolutePath(`dist/helper/launch-linux-${process.arch}`),
    searchPath: process.env['PATH'] ?? '',
    untrustedFolders: () => policies.list().map(({ path }) => path),
    trustedPaths: [context.extensionPath],
    log,
  });
  const runtime = createToolRuntime({
    roots: policies,
    sandbox,
    log,
    parentEnv: process.env,
    accessUnder: createAccessUnder([context.extensionPath]),
    helperFolder: context.asAbsolutePath('dist/bin'),
  });
  // First, because a tool that is declared but not registered fails when it is called.
  store.add(registerTools(runtime.tools));

  const health = store.add(new SandboxHealth(sandbox));
  const terminals = store.add(new SessionTerminals());
  const history = new CommandHistory(context.workspaceState);
  store.add(registerRunSandboxed({ policies, runtime, terminals, health, history }));
  store.add(registerSessionCommands(runtime.sessions, terminals));
  store.add(registerChangeSandbox(policies, grants));
  store.add(registerCheckSandbox(health));
  store.add(registerSleepProgress(runtime.sleeps));
  store.add(vscode.commands.registerCommand(commandIds.showLog, () => log.show()));
  store.add(createStatusBar(policies, health));
  if (policies.list().length > 0) {
    void health.check();
  }

  stop = async () => {
    await runtime.dispose();
    store.dispose();
  };
}

/** Ends every session before the extension host goes away. */
export async function deactivate(): Promise<void> {
  await stop?.();
  stop = undefined;
}
