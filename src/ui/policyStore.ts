import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { Log } from '../base/log.ts';
import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import type { ReviewMode } from '../patch/reviewMode.ts';
import { resolveReviewMode } from '../patch/reviewMode.ts';
import type { ApprovalPolicy } from '../runtime/approvals/approvalPolicy.ts';
import { resolveApprovalPolicy } from '../runtime/approvals/approvalPolicy.ts';
import { withGrantedPrefixes } from '../runtime/approvals/grantedRules.ts';
import type { GrantStore } from '../runtime/approvals/grantStore.ts';
import { localName } from '../runtime/environments/environment.ts';
import type { RemotePolicies } from '../runtime/machines/remotePolicies.ts';
import type { PolicyError, Root, Roots, RootSettings } from '../runtime/roots.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import type { PolicyInput } from '../sandbox/policy/input.ts';
import { managedPolicyPath, readManagedPolicy } from '../sandbox/policy/managedPolicy.ts';
import { nodeMachine } from '../sandbox/policy/nodeMachine.ts';
import type { RuleSet } from '../sandbox/rules/rule.ts';
import { managedRulesFolder } from '../sandbox/rules/ruleFiles.ts';
import { RuleStore } from '../sandbox/rules/ruleStore.ts';
import { accessTo } from '../sandbox/policy/fileRules.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import { RecentPolicies } from '../sandbox/policy/recentPolicies.ts';
import type { Widening } from '../sandbox/policy/widening.ts';
import { widenSettings } from '../sandbox/policy/widening.ts';
import type { EnvironmentChoices } from './environments/environmentChoices.ts';
import type { RootChoice, RootChoices } from './rootChoices.ts';
import {
  approvalsSection,
  readApprovalSettings,
  readPolicySettings,
  readReviewSetting,
  readRuleSettings,
  rulesSection,
  sandboxSection,
} from './policySettings.ts';

const machine = nodeMachine();
const recent = new RecentPolicies();

/** The workspace folders on this machine's disk as roots, and their policies from settings, choices, grants and trust. */
export class PolicyStore implements Roots, Disposable {
  readonly #choices: RootChoices;
  readonly #environments: EnvironmentChoices;
  readonly #remote: RemotePolicies;
  readonly #grants: GrantStore;
  readonly #log: Log;
  readonly #store = new DisposableStore();
  readonly #didChange = this.#store.add(new Emitter<void>());
  readonly #didChangeActive = this.#store.add(new Emitter<void>());
  readonly #rules = new RuleStore(managedRulesFolder(managedPolicyPath(process.platform)), process.platform);
  #entries: readonly RootEntry[] = readRoots();

  /** A root came or went, or a policy may be another one now. */
  readonly onDidChange = this.#didChange.event;
  readonly onDidChangeActive = this.#didChangeActive.event;

  constructor(
    choices: RootChoices,
    environments: EnvironmentChoices,
    remote: RemotePolicies,
    grants: GrantStore,
    log: Log,
  ) {
    this.#choices = choices;
    this.#environments = environments;
    this.#remote = remote;
    this.#grants = grants;
    this.#log = log;
    const changed = (reason: string): void => {
      this.#log.debug(`policies may have changed: ${reason}`);
      this.#didChange.fire();
    };
    this.#store.add(choices.onDidChange(() => changed('choice')));
    this.#store.add(grants.onDidChange(() => changed('grant')));
    this.#store.add(environments.onDidChange(() => changed('environment')));
    this.#store.add(remote.onDidChange(() => changed('answer of another machine')));
    this.#store.add(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (
          [sandboxSection, approvalsSection, rulesSection].some((section) =>
            event.affectsConfiguration(section),
          )
        ) {
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
    return this.#entries.map((entry) => this.#rootOf(entry));
  }

  /** The folder of the active editor, or the only one. */
  active(): Root | undefined {
    const document = vscode.window.activeTextEditor?.document.uri;
    const ofEditor = document === undefined ? undefined : this.rootOf(document);
    return ofEditor ?? (this.#entries.length === 1 ? this.list()[0] : undefined);
  }

  /** The root that holds a file or folder. */
  rootOf(uri: vscode.Uri): Root | undefined {
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    const entry = this.#entries.find(({ uri: own }) => own.toString() === folder?.uri.toString());
    return entry && this.#rootOf(entry);
  }

  policyFor(root: Root, widenings: readonly Widening[] = []): Result<SandboxPolicy, PolicyError> {
    if (root.environment !== undefined) {
      const settings = this.settingsFor(root);
      return settings.ok ? this.#remote.policyFor(root, settings.value, widenings) : settings;
    }
    const choice = this.#choices.get(root.path);
    const chosen = this.policyWith(root, choice);
    const all = [...this.#grants.wideningsOf(root), ...widenings];
    const resolved =
      chosen.ok && all.length > 0
        ? this.policyWith(root, widenSettings(choice ?? {}, all, chosen.value, machine))
        : chosen;
    this.#log.debug(
      resolved.ok
        ? `policy of ${root.path}: ${JSON.stringify({ ...resolved.value.sources, mode: resolved.value.mode })}`
        : `policy of ${root.path}: ${resolved.error.message}`,
    );
    return resolved;
  }

  settingsFor(root: Root): Result<RootSettings, PolicyError> {
    const entry = this.#entryOf(root);
    if (entry === undefined) {
      return fail(closed(root));
    }
    const { isTrusted, user, profiles, profile, grant, workspace } = this.#settingsOf(
      entry,
      this.#choices.get(root.path),
    );
    return ok({
      ...{ isTrusted, user, profiles, profile, widenings: this.#grants.wideningsOf(root) },
      ...(grant !== undefined && { grant }),
      ...(workspace !== undefined && { workspace }),
    });
  }

  approvalPolicyFor(root: Root): Result<ApprovalPolicy, PolicyError> {
    const entry = this.#entryOf(root);
    return entry === undefined ? fail(closed(root)) : resolveApprovalPolicy(readApprovalSettings(entry.uri));
  }

  async rulesFor(root: Root): Promise<RuleSet> {
    const entry = this.#entryOf(root);
    const rules = this.#rules.rulesOf({
      root: root.path,
      homeDir: machine.homeDir,
      ...(entry === undefined ? { files: [], user: [], workspace: [] } : readRuleSettings(entry.uri)),
      isWritable: (path) => this.#isWritable(root, path),
    });
    return withGrantedPrefixes(rules, this.#grants.prefixesOf(root));
  }

  /**
   * Whether the sandbox lets commands of a root write a file of this machine. Without a sandbox, nothing is kept from
   * them anyway.
   */
  #isWritable({ name, path: rootPath }: Root, path: string): boolean {
    const policy = this.policyFor({ name, path: rootPath });
    return !policy.ok || (!isUnsandboxed(policy.value) && accessTo(policy.value, path) === 'write');
  }

  /** What the policy would be, without grants, were this the person's choice for the root. */
  policyWith(root: Root, grant: RootChoice | undefined): Result<SandboxPolicy, PolicyError> {
    const entry = this.#entryOf(root);
    return entry === undefined ? fail(closed(root)) : resolveManaged(this.#inputFor(entry, grant));
  }

  /**
   * What the person's own settings and the administrator make of a root, with another profile when one is given:
   * without the choice for this root, the workspace's own settings and trust, which differ from folder to folder.
   */
  policyBySettings(
    root: Root,
    profile?: { readonly name: string; readonly settings: unknown },
  ): Result<SandboxPolicy, PolicyError> {
    const entry = this.#entryOf(root);
    if (entry === undefined) {
      return fail(closed(root));
    }
    const input = this.#inputFor(entry, undefined);
    return resolveManaged({
      ...input,
      workspace: {},
      isTrusted: true,
      ...(profile && {
        profile: profile.name,
        profiles: { ...asRecord(input.profiles), [profile.name]: profile.settings },
      }),
    });
  }

  /** The names of the profiles that the settings define, right or wrong. */
  profileNames(root: Root): readonly string[] {
    const entry = this.#entryOf(root);
    return entry === undefined ? [] : Object.keys(asRecord(readPolicySettings(entry.uri).profiles));
  }

  /** The profile in use, by choice or by settings. */
  profileOf(root: Root): unknown {
    const entry = this.#entryOf(root);
    return entry && this.#inputFor(entry, this.#choices.get(root.path)).profile;
  }

  /** Of a folder that was closed meanwhile, every patch waits. */
  reviewModeFor(root: Root): ReviewMode {
    const entry = this.#entryOf(root);
    return entry === undefined ? 'always' : resolveReviewMode(readReviewSetting(entry.uri));
  }

  dispose(): void {
    this.#store.dispose();
  }

  #rootOf({ root }: RootEntry): Root {
    const environment = this.#environments.environmentOf(root.path);
    return environment === localName ? root : { ...root, environment };
  }

  #entryOf(root: Root): RootEntry | undefined {
    return this.#entries.find((candidate) => candidate.root.path === root.path);
  }

  #inputFor(entry: RootEntry, grant: RootChoice | undefined): PolicyInput {
    return { root: entry.root.path, ...this.#settingsOf(entry, grant), ...machine };
  }

  #settingsOf({ uri }: RootEntry, grant: RootChoice | undefined): Omit<RootSettings, 'widenings'> {
    const { profile: chosen, ...granted } = grant ?? {};
    const settings = readPolicySettings(uri);
    return {
      isTrusted: vscode.workspace.isTrusted,
      ...settings,
      profile: chosen ?? settings.profile,
      grant: granted,
    };
  }
}

/** With what the administrator demands, read anew: it is one small file, and a stale answer would be too wide. */
function resolveManaged(input: PolicyInput): Result<SandboxPolicy, PolicyError> {
  const managed = readManagedPolicy(process.platform);
  return managed.ok ? recent.resolve({ ...input, managed: managed.value }) : managed;
}

function closed(root: Root): PolicyError {
  return {
    field: 'root',
    message: `${root.path} is not a folder of this workspace any more.`,
    hint: 'Open the folder again, or name a folder that is open.',
  };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
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
