import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { silentLog } from '../base/log.ts';
import type { AccessUnder } from '../patch/accessUnder.ts';
import { createAccessUnder } from '../patch/accessUnder.ts';
import type { ApprovalPolicy } from '../runtime/approvals/approvalPolicy.ts';
import type { Root, Roots } from '../runtime/roots.ts';
import { createSandboxManager } from '../sandbox/createSandboxManager.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { managedPolicyPath, readManagedPolicy } from '../sandbox/policy/managedPolicy.ts';
import { nodeMachine } from '../sandbox/policy/nodeMachine.ts';
import { resolvePolicy } from '../sandbox/policy/resolve.ts';
import { managedRulesFolder } from '../sandbox/rules/ruleFiles.ts';
import { RuleStore } from '../sandbox/rules/ruleStore.ts';
import type { SandboxManager } from '../sandbox/sandboxManager.ts';
import { cliAuditFolder } from './auditFolder.ts';
import { UsageError } from './usageError.ts';

export const policyOptions = {
  root: { type: 'string' },
  mode: { type: 'string' },
  network: { type: 'string' },
  tmp: { type: 'string' },
  writable: { type: 'string', multiple: true },
  file: { type: 'string', multiple: true },
  host: { type: 'string', multiple: true },
  git: { type: 'string' },
  caches: { type: 'string' },
} as const;

export interface PolicyFlags {
  readonly root?: string | undefined;
  readonly mode?: string | undefined;
  readonly network?: string | undefined;
  readonly tmp?: string | undefined;
  readonly writable?: readonly string[] | undefined;
  /** `PATH=ACCESS`, the path as in the setting. */
  readonly file?: readonly string[] | undefined;
  /** `HOST` or `HOST=deny`. */
  readonly host?: readonly string[] | undefined;
  readonly git?: string | undefined;
  readonly caches?: string | undefined;
}

const flagOfSetting: Readonly<Record<string, string>> = {
  'cordon.sandbox.mode': '--mode',
  'cordon.sandbox.network': '--network',
  'cordon.sandbox.tmp': '--tmp',
  'cordon.sandbox.writableRoots': '--writable',
  'cordon.sandbox.files': '--file',
  'cordon.sandbox.hosts': '--host',
  'cordon.sandbox.git': '--git',
  'cordon.sandbox.caches': '--caches',
};

/** The root and policy that flags describe. Throws a {@link UsageError} that names the flag at fault. */
export function policyFromFlags(flags: PolicyFlags): { root: Root; policy: SandboxPolicy } {
  const folder = resolve(flags.root ?? '.');
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new UsageError(`--root ${folder}: not an existing folder.`);
  }
  const path = realpathSync(folder);
  const managed = readManagedPolicy(process.platform);
  if (!managed.ok) {
    throw new UsageError(`${managed.error.message} ${managed.error.hint}`);
  }
  const resolved = resolvePolicy({
    managed: managed.value,
    root: path,
    isTrusted: true,
    user: {
      mode: flags.mode,
      network: flags.network,
      tmp: flags.tmp,
      writableRoots: flags.writable?.map((writable) => resolve(writable)),
      files: flags.file && Object.fromEntries(flags.file.map(fileRule)),
      hosts: flags.host && Object.fromEntries(flags.host.map(hostRule)),
      git: flags.git,
      caches: flags.caches,
    },
    ...nodeMachine(),
  });
  if (!resolved.ok) {
    const { field, message, hint } = resolved.error;
    throw new UsageError(`${flagOf(field)}: ${message} ${hint}`);
  }
  return { root: { name: basename(path), path }, policy: resolved.value };
}

/** Of a field and of what lies in it: a rule's path is part of the name of its field. */
function flagOf(field: string): string {
  const setting = Object.keys(flagOfSetting).find((name) => field === name || field.startsWith(`${name}.`));
  return setting === undefined ? field : (flagOfSetting[setting] ?? field);
}

function fileRule(text: string): [string, string] {
  const at = text.lastIndexOf('=');
  if (at <= 0) {
    throw new UsageError(`--file ${text}: must be PATH=ACCESS, as in --file docs=read.`);
  }
  return [text.slice(0, at), text.slice(at + 1)];
}

function hostRule(text: string): [string, string] {
  const at = text.lastIndexOf('=');
  return at < 0 ? [text, 'allow'] : [text.slice(0, at), text.slice(at + 1)];
}

/** The one root of a command line, under a policy that stays; widenings change nothing in it. */
export function rootsOf(root: Root, policy: SandboxPolicy, approval: ApprovalPolicy): Roots {
  const rules = new RuleStore(managedRulesFolder(managedPolicyPath(process.platform)), process.platform);
  // The settings of an editor are not known here: what the administrator and the folder say holds.
  const sources = { root: root.path, homeDir: homedir(), files: [], user: [], workspace: [] };
  return {
    list: () => [root],
    active: () => root,
    policyFor: () => ({ ok: true, value: policy }),
    approvalPolicyFor: () => ({ ok: true, value: approval }),
    rulesFor: async () => rules.rulesOf({ ...sources, isWritable: () => true }),
    // Who types the command line sees the patch before it runs.
    reviewModeFor: () => 'never',
  };
}

/** Where the command and what belongs to it lie. */
export function ownFolder(): string {
  return dirname(realpathSync(process.argv[1] as string));
}

/** The programs that every command finds first. */
export function cliHelperFolder(): string {
  return join(ownFolder(), 'bin');
}

/** What patches may write: never the command's own files. */
export function cliAccessUnder(): AccessUnder {
  return createAccessUnder([ownFolder(), cliAuditFolder()]);
}

/** The launcher's companion program. */
export function cliCompanion(): string {
  return join(ownFolder(), 'helper', `launch-linux-${process.arch}`);
}

/** The sandbox of this machine; the helper program lies beside the command, whose files stay as they are. */
export function createCliSandbox(policy: SandboxPolicy): SandboxManager {
  return createSandboxManager({
    platform: process.platform,
    helperPath: cliCompanion(),
    trustedPaths: [ownFolder(), cliAuditFolder()],
    searchPath: process.env['PATH'] ?? '',
    log: silentLog,
    untrustedFolders: () => [policy.root],
  });
}
