import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { Log } from '../base/log.ts';
import type { Result } from '../base/result.ts';
import { fail } from '../base/result.ts';
import type { ReviewMode } from '../patch/reviewMode.ts';
import { resolveReviewMode } from '../patch/reviewMode.ts';
import type { PolicyError, Root, Roots } from '../runtime/roots.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { nodeMachine } from '../sandbox/policy/nodeMachine.ts';
import { resolvePolicy } from '../sandbox/policy/resolve.ts';
import type { Grants } from './grants.ts';
import { readPolicySettings, readReviewSetting, sandboxSection } from './policySettings.ts';

const machine = nodeMachine();

/** The workspace folders on this machine's disk as roots, and their policies from settings, grants and trust. */
export class PolicyStore implements Roots, Disposable {
  readonly #grants: Grants;
  readonly #log: Log;
  readonly #store = new DisposableStore();
  readonly #didChange = this.#store.add(new Emitter<void>());
  readonly #didChangeActive = this.#store.add(new Emitter<void>());
  #entries: readonly RootEntry[] = readRoots();

  /** A root came or went, or a policy may be another one now. */
  readonly onDidChange = this.#didChange.event;
  readonly onDidChangeActive = this.#didChangeActive.event;

  constructor(grants: Grants, log: Log) {
    this.#grants = grants;
    this.#log = log;
    const changed = (reason: string): void => {
      this.#log.debug(`policies may have changed: ${reason}`);
      this.#didChange.fire();
    };
    this.#store.add(grants.onDidChange(() => changed('grant')));
    this.#store.add(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(sandboxSection)) {
          changed('settings');
        }
      }),
    );
    this.#store.add(vscode.workspace.onDidGrantWorkspaceTrust(() => changed('trust')));
    this.#store.add(
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.#entries = readRoots();
        changed('folders');
      }),
    );
    this.#store.add(vscode.window.onDidChangeActiveTextEditor(() => this.#didChangeActive.fire()));
  }

  list(): readonly Root[] {
    return this.#entries.map(({ root }) => root);
  }

  /** The folder of the active editor, or the only one. */
  active(): Root | undefined {
    const document = vscode.window.activeTextEditor?.document.uri;
    const ofEditor = document === undefined ? undefined : this.rootOf(document);
    return ofEditor ?? (this.#entries.length === 1 ? this.#entries[0]?.root : undefined);
  }

  /** The root that holds a file or folder. */
  rootOf(uri: vscode.Uri): Root | undefined {
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    return this.#entries.find(({ uri: own }) => own.toString() === folder?.uri.toString())?.root;
  }

  policyFor(root: Root): Result<SandboxPolicy, PolicyError> {
    const entry = this.#entries.find((candidate) => candidate.root.path === root.path);
    if (entry === undefined) {
      return fail({
        field: 'root',
        message: `${root.path} is not a folder of this workspace any more.`,
        hint: 'Open the folder again, or name a folder that is open.',
      });
    }
    const grant = this.#grants.get(root.path);
    const resolved = resolvePolicy({
      root: root.path,
      isTrusted: vscode.workspace.isTrusted,
      ...readPolicySettings(entry.uri),
      ...(grant === undefined ? {} : { grant }),
      ...machine,
    });
    this.#log.debug(
      resolved.ok
        ? `policy of ${root.path}: ${JSON.stringify({ ...resolved.value.sources, mode: resolved.value.mode })}`
        : `policy of ${root.path}: ${resolved.error.message}`,
    );
    return resolved;
  }

  /** Of a folder that was closed meanwhile, every patch waits. */
  reviewModeFor(root: Root): ReviewMode {
    const entry = this.#entries.find((candidate) => candidate.root.path === root.path);
    return entry === undefined ? 'always' : resolveReviewMode(readReviewSetting(entry.uri));
  }

  dispose(): void {
    this.#store.dispose();
  }
}

interface RootEntry {
  readonly root: Root;
  readonly uri: vscode.Uri;
}

function readRoots(): readonly RootEntry[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders
    .filter(({ uri }) => uri.scheme === 'file')
    .map(({ uri, name }) => ({ uri, root: { name, path: machine.canonicalize(uri.fsPath) ?? uri.fsPath } }));
}
