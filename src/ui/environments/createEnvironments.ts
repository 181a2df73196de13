import { tmpdir } from 'node:os';
import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import { Environments } from '../../runtime/environments/environments.ts';
import { createLocalEnvironment } from '../../runtime/environments/local/createLocalEnvironment.ts';
import { ServerRecords } from '../../runtime/environments/local/serverRecords.ts';
import { RememberedSessions } from '../../runtime/environments/rememberedSessions.ts';
import type { SandboxManager } from '../../sandbox/sandboxManager.ts';
import { openRuntimeFolder } from '../../sandbox/linux/runtimeFolder.ts';
import { editorProxy } from '../editorProxy.ts';
import type { PolicyStore } from '../policyStore.ts';
import { readEnvironments } from './environmentChoices.ts';

export interface CreateEnvironmentsOptions {
  readonly context: Pick<vscode.ExtensionContext, 'asAbsolutePath' | 'extension' | 'workspaceState'>;
  readonly policies: PolicyStore;
  /** What commands never write. */
  readonly trustedPaths: readonly string[];
  readonly sandbox: SandboxManager;
  readonly log: Log;
}

/** The environments of the person's settings, and this machine, which follows the folders and the proxy of the editor. */
export function createEnvironments({
  context,
  policies,
  trustedPaths,
  sandbox,
  log,
}: CreateEnvironmentsOptions): Disposable & { readonly environments: Environments } {
  const store = new DisposableStore();
  const { version } = context.extension.packageJSON as { readonly version: string };
  const local = createLocalEnvironment({
    ...{ platform: process.platform, version, log },
    inProcess: async () => {
      const { createLocalBackend } = await import('../../runtime/exec/localBackend.ts');
      return createLocalBackend(sandbox);
    },
    program: context.asAbsolutePath('dist/cli.js'),
    records: new ServerRecords(context.workspaceState),
    runtimeFolder: () => openRuntimeFolder(process.env, tmpdir()),
    configuration: () => ({
      untrustedFolders: policies.list().map(({ path }) => path),
      trustedPaths,
      upstream: editorProxy(),
    }),
    environment: process.env,
  });
  const environments = store.add(
    new Environments({
      local,
      services: {
        ...{ log, bundleFolder: context.asAbsolutePath('dist'), version },
        sessions: new RememberedSessions(context.workspaceState, log),
      },
      settings: readEnvironments,
    }),
  );
  const configure = (): void => void local.configure().catch((error: unknown) => log.warn(String(error)));
  store.add(vscode.workspace.onDidChangeWorkspaceFolders(configure));
  store.add(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('http')) {
        configure();
      }
      if (event.affectsConfiguration('cordon.environments')) {
        environments.refresh();
      }
    }),
  );
  return { environments, dispose: () => store.dispose() };
}
