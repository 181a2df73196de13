import { isUnsandboxed, writableRoots } from '../sandbox/policy/policy.ts';
import type {
  NetworkMode,
  PolicyClause,
  PolicySource,
  SandboxMode,
  SandboxPolicy,
} from '../sandbox/policy/policy.ts';

/** The modes and the network in the words of the status bar and the quick picks. */
export const modeWords: Readonly<Record<SandboxMode, { readonly label: string; readonly detail: string }>> = {
  'read-only': { label: 'Read only', detail: 'Commands read everything that you can and write nothing.' },
  'workspace-write': {
    label: 'Workspace write',
    detail:
      'Commands write in this folder and in the folders that you added, but not in .git, .vscode and the like.',
  },
  'danger-full-access': {
    label: 'No sandbox',
    detail: 'Commands may do whatever you may do on this machine, network included.',
  },
};

export const networkWords: Readonly<
  Record<NetworkMode, { readonly label: string; readonly detail: string }>
> = {
  off: { label: 'Network off', detail: 'Commands reach no network, not even this machine’s own services.' },
  'allow-list': {
    label: 'Network limited',
    detail: 'Commands reach the hosts that your settings allow, through a proxy.',
  },
  on: { label: 'Network on', detail: 'Commands reach every network that you can.' },
};

const sourceWords: Readonly<Record<PolicySource, string>> = {
  default: 'default',
  user: 'your settings',
  profile: 'your profile',
  grant: 'your choice here',
  managed: 'narrowed by your administrator',
  workspace: 'narrowed by the workspace',
  untrusted: 'workspace not trusted',
  request: 'this command',
};

/** The policy in a few words, for the status bar. */
export function policySummary(policy: SandboxPolicy): string {
  if (policy.sources.mode === 'untrusted') {
    return 'Read only (workspace not trusted)';
  }
  const mode = modeWords[policy.mode].label;
  return isUnsandboxed(policy) ? mode : `${mode} · ${networkWords[policy.network].label.toLowerCase()}`;
}

/** Each clause with who decided it, one per entry. */
export function clauseLines(policy: SandboxPolicy): readonly string[] {
  const { sources } = policy;
  const from = (source: PolicySource): string => `(${sourceWords[source]})`;
  if (isUnsandboxed(policy)) {
    return [`Mode: ${modeWords[policy.mode].label} ${from(sources.mode)}`];
  }
  const added = writableRoots(policy).filter((path) => path !== policy.root);
  return [
    `Mode: ${modeWords[policy.mode].label} ${from(sources.mode)}`,
    `Network: ${policy.network} ${from(sources.network)}`,
    `Temporary folder: ${policy.tmp} ${from(sources.tmp)}`,
    ...(policy.mode === 'workspace-write' && added.length > 0
      ? [`Also writable: ${added.join(', ')} ${from(sources.writableRoots)}`]
      : []),
  ];
}

/** What a person can do about a denial by that clause, where they look: the hint of a denial is meant for models. */
export function denialCure(clause: PolicyClause | undefined): string {
  switch (clause) {
    case 'mode':
      return 'If commands should change files in this folder, choose “Workspace write” in the status bar.';
    case 'network':
      return 'If commands should reach the network from this folder, choose “Network on” in the status bar.';
    case 'writableRoots':
      return 'If commands should write there, add that folder to the setting “Sandbox: Writable Roots”.';
    case 'files':
    case 'git':
    case 'caches':
    case 'tmp':
    case 'hosts':
    case 'sockets':
    case 'environment':
    case 'limits':
    case undefined:
      return 'Look at what the command tried, and whether it should: the status bar and the settings widen the policy.';
  }
}
