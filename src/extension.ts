import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { DisposableStore } from './base/disposable.ts';
import { startTelemetry } from './base/startTelemetry.ts';
import { createAccessUnder } from './patch/accessUnder.ts';
import { CheckpointStore } from './patch/checkpoint/checkpointStore.ts';
import { ApprovalFile } from './runtime/approvals/approvalFile.ts';
import { Approvals } from './runtime/approvals/approvals.ts';
import { GrantFolder } from './runtime/approvals/grantFolder.ts';
import { GrantStore } from './runtime/approvals/grantStore.ts';
import { AuditLog } from './runtime/audit/auditLog.ts';
import { auditGrants } from './runtime/audit/grantAudit.ts';
import { RemotePolicies } from './runtime/machines/remotePolicies.ts';
import { createToolRuntime } from './runtime/toolRuntime.ts';
import { createSandboxManager } from './sandbox/createSandboxManager.ts';
import { registerApprovals } from './ui/approvals/registerApprovals.ts';
import { registerOpenAuditLog } from './ui/audit/openAuditLog.ts';
import { createCheckpointTree } from './ui/checkpoints/checkpointTree.ts';
import { registerCheckpointContents } from './ui/checkpoints/showChanges.ts';
import { registerChangeSandbox } from './ui/commands/changeSandbox.ts';
import { registerCheckpointCommands } from './ui/commands/checkpointCommands.ts';
import { registerCheckSandbox } from './ui/commands/checkSandbox.ts';
import { CommandHistory } from './ui/commands/commandHistory.ts';
import { commandIds } from './ui/commands/commandIds.ts';
import { registerImportPolicy } from './ui/commands/importPolicy.ts';
import { registerRunSandboxed } from './ui/commands/runSandboxed.ts';
import { registerSessionCommands } from './ui/commands/sessionCommands.ts';
import { registerShowEffectivePolicy } from './ui/commands/showEffectivePolicy.ts';
import { registerDenials } from './ui/denials/registerDenials.ts';
import { askPolicies } from './ui/environments/askPolicies.ts';
import { createEnvironments } from './ui/environments/createEnvironments.ts';
import { EnvironmentNotices } from './ui/environments/environmentNotices.ts';
import { registerSelectEnvironment } from './ui/environments/selectEnvironment.ts';
import { EnvironmentChoices } from './ui/environments/environmentChoices.ts';
import { registerRevokeGrants } from './ui/grants/revokeGrants.ts';
import { registerMeetYourSandbox } from './ui/meetYourSandbox.ts';
import { RootChoices } from './ui/rootChoices.ts';
import { createEditorPatchHost } from './ui/patch/editorPatchHost.ts';
import { PatchApplier } from './ui/patch/patchApplier.ts';
import { approvalExpiryMs } from './ui/policySettings.ts';
import { PolicyStore } from './ui/policyStore.ts';
import { editorProxy } from './ui/editorProxy.ts';
import { registerPolicyView } from './ui/policyView/registerPolicyView.ts';
import { registerPatchReviews } from './ui/review/registerPatchReviews.ts';
import type { PatchPlaces } from './ui/review/reviewPlaces.ts';
import { SandboxHealth } from './ui/sandboxHealth.ts';
import { registerSessionView } from './ui/sessions/registerSessionView.ts';
import { SessionTerminals } from './ui/sessionTerminals.ts';
import { registerSleepProgress } from './ui/sleepProgress.ts';
import { createStatusBar } from './ui/statusBar.ts';
import { TextPages } from './ui/textPages.ts';
import { registerTools } from './ui/tools/registerTools.ts';
import { withoutLinks } from './ui/oneLine.ts';

let stop: (() => Promise<void>) | undefined;

/** Builds everything and registers it; whatever takes time happens on first use. */
export function activate(context: vscode.ExtensionContext): void {
  const store = new DisposableStore();
  const log = store.add(vscode.window.createOutputChannel('Cordon', { log: true }));
  const choices = store.add(new RootChoices(context.globalState));
  const grantFolder = makeFolder(context.globalStorageUri, 'grants');
  const grants = store.add(new GrantStore(new GrantFolder(grantFolder, log)));
  const environmentChoices = store.add(new EnvironmentChoices(context.globalState));
  const remotePolicies = new RemotePolicies();
  const policies = store.add(new PolicyStore(choices, environmentChoices, remotePolicies, grants, log));
  const checkpointFolder = makeFolder(context.storageUri ?? context.globalStorageUri, 'checkpoints');
  const reviewFolder = makeFolder(context.storageUri ?? context.globalStorageUri, 'reviews');
  const approvalFolder = makeFolder(context.storageUri ?? context.globalStorageUri, 'approvals');
  const auditFolder = makeFolder(context.globalStorageUri, 'audit');
  const audit = new AuditLog({ folder: auditFolder, environment: process.env, log });
  // A command that could write there could put words into the mouth of a restore, of a person's yes, or of the log.
  const trustedPaths = [
    ...[context.extensionPath, grantFolder, approvalFolder, auditFolder],
    ...[checkpointFolder, reviewFolder],
  ];
  const approvals = store.add(
    new Approvals({
      grants,
      expiresAfterMs: approvalExpiryMs,
      file: new ApprovalFile(join(approvalFolder, 'approvals.json'), log),
    }),
  );
  const companion = context.asAbsolutePath(`dist/helper/launch-linux-${process.arch}`);
  const sandbox = createSandboxManager({
    platform: process.platform,
    helperPath: companion,
    searchPath: process.env['PATH'] ?? '',
    untrustedFolders: () => policies.list().map(({ path }) => path),
    trustedPaths,
    networkAccess: { upstream: editorProxy },
    log,
  });
  const { environments } = store.add(createEnvironments({ context, policies, trustedPaths, sandbox, log }));
  const accessUnder = createAccessUnder(trustedPaths);
  const checkpoints = store.add(new CheckpointStore({ folder: checkpointFolder, log }));
  const applier = store.add(new PatchApplier({ log, checkpoints, accessUnder }));
  const places: PatchPlaces = {
    list: () => policies.list(),
    placeOf: (root) => runtime.patchPlaceOf(root),
  };
  const reviews = store.add(
    registerPatchReviews({ folder: reviewFolder, applier, places, accessUnder, log }),
  );
  const runtime = createToolRuntime({
    roots: policies,
    sandbox,
    log,
    approvals,
    audit,
    parentEnv: process.env,
    accessUnder,
    patchHost: createEditorPatchHost(applier, reviews),
    helperFolder: context.asAbsolutePath('dist/bin'),
    backend: environments,
    remote: { environments, policies: remotePolicies },
  });
  // First, because a tool that is declared but not registered fails when it is called.
  store.add(registerTools(runtime.tools));

  const health = store.add(new SandboxHealth(sandbox));
  const terminals = store.add(new SessionTerminals());
  store.add(new EnvironmentNotices(environments));
  store.add(askPolicies({ environments, policies, ask: (root) => runtime.askPolicy(root), log }));
  void runtime.restore().then(
    (restored) => terminals.reopen(restored),
    (error: unknown) => log.error(`The sessions from before cannot be taken over: ${String(error)}`),
  );
  const history = new CommandHistory(context.workspaceState);
  store.add(registerRunSandboxed({ policies, runtime, terminals, health, environments, history }));
  store.add(registerSessionCommands(runtime.sessions, terminals));
  store.add(registerSessionView(runtime.sessions));
  store.add(registerCheckpointContents(checkpoints));
  store.add(createCheckpointTree(checkpoints));
  store.add(registerCheckpointCommands({ checkpoints, applier, places, accessUnder, reviews }));
  store.add(registerChangeSandbox(policies, choices));
  store.add(registerSelectEnvironment({ environments, choices: environmentChoices, policies }));
  const pages = store.add(new TextPages());
  store.add(registerApprovals(approvals, pages));
  store.add(
    registerDenials({
      ...{ policies, runtime, terminals, health, environments },
      ...{ denials: runtime.denials, grants, sessions: runtime.sessions },
    }),
  );
  store.add(registerRevokeGrants({ grants, policies, sessions: runtime.sessions }));
  store.add(registerCheckSandbox({ health, sandbox, policies, companion, pages, log }));
  store.add(registerShowEffectivePolicy({ policies, grants, health, pages, environments }));
  store.add(registerPolicyView({ policies, grants, health, sessions: runtime.sessions }));
  store.add(registerMeetYourSandbox(context.extension.id));
  store.add(registerImportPolicy(policies, choices, pages));
  store.add(registerSleepProgress(runtime.sleeps));
  store.add(auditGrants(grants, audit));
  store.add(registerOpenAuditLog(policies, { audit, folder: auditFolder, pages }));
  store.add(
    audit.onDidFail(
      ({ message, hint }) =>
        void vscode.window.showWarningMessage(withoutLinks(`Cordon: ${message} ${hint}`)),
    ),
  );
  store.add(vscode.commands.registerCommand(commandIds.showLog, () => log.show()));
  store.add(createStatusBar(policies, health, environments));
  if (policies.list().length > 0) {
    void health.check();
  }

  const spans = startTelemetry('cordon', (context.extension.packageJSON as { version: string }).version, log);
  stop = async () => {
    await runtime.dispose();
    await (await spans).stop();
    await audit.dispose();
    store.dispose();
  };
}

/** Leaves the sessions to their server, which ends them unless a window takes them over soon. */
export async function deactivate(): Promise<void> {
  await stop?.();
  stop = undefined;
}

function makeFolder(parent: vscode.Uri, name: string): string {
  const path = vscode.Uri.joinPath(parent, name).fsPath;
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}
