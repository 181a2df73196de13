import type { ApprovalMode, QuestionKind } from '../runtime/approvals/approvalPolicy.ts';
import { isUnsandboxed, writableRoots } from '../sandbox/policy/policy.ts';
import type {
  CacheMode,
  GitMode,
  NetworkMode,
  PolicyClause,
  PolicySource,
  SandboxMode,
  SandboxPolicy,
  TmpMode,
} from '../sandbox/policy/policy.ts';

/** A choice in few words, and what it means in one sentence. */
export interface Words {
  readonly label: string;
  readonly detail: string;
}

export const modeWords: Readonly<Record<SandboxMode, Words>> = {
  'read-only': { label: 'Read only', detail: 'Commands write nothing on the machine.' },
  'workspace-write': {
    label: 'Workspace write',
    detail:
      'Commands write in this folder and in the folders that you added, but not in .vscode and the like.',
  },
  'danger-full-access': {
    label: 'No sandbox',
    detail: 'Commands may do whatever you may do on the machine that runs them, network included.',
  },
};

export const networkWords: Readonly<Record<NetworkMode, Words>> = {
  off: { label: 'Network off', detail: 'Commands reach no network, not even the machine’s own services.' },
  'allow-list': {
    label: 'Network limited to allowed hosts',
    detail: 'Commands reach the hosts that your settings allow, through a proxy, and nothing else.',
  },
  on: { label: 'Network on', detail: 'Commands reach every network that you can.' },
};

export const gitWords: Readonly<Record<GitMode, Words>> = {
  'read-only': { label: 'Read only', detail: 'Commands write nothing in .git, so they cannot commit.' },
  commands: {
    label: 'Commands of git',
    detail:
      'Command lines that run git write in .git, so they can commit; hooks and configuration stay read-only.',
  },
  writable: {
    label: 'Writable',
    detail: 'Every command writes in .git; hooks and configuration stay read-only.',
  },
};

export const cacheWords: Readonly<Record<CacheMode, Words>> = {
  off: { label: 'Off', detail: 'The rules for files decide about the caches of package managers.' },
  private: {
    label: 'Private',
    detail: 'Package managers have caches of this folder alone, which your own programs never read.',
  },
  shared: { label: 'Shared', detail: 'Package managers read and write your own caches.' },
};

export const tmpWords: Readonly<Record<TmpMode, Words>> = {
  private: { label: 'Private', detail: 'Each command has an empty temporary folder of its own, in memory.' },
  shared: { label: 'Shared', detail: 'Commands use the temporary folder of the machine.' },
};

export const approvalModeWords: Readonly<Record<ApprovalMode, Words>> = {
  untrusted: {
    label: 'Untrusted',
    detail: 'You are asked before every command that is not known to be harmless and that no rule allows.',
  },
  'on-request': {
    label: 'On request',
    detail:
      'You are asked before dangerous commands, and when an agent asks for more than the sandbox gives.',
  },
  'on-failure': {
    label: 'On failure',
    detail:
      'You are asked before dangerous commands, when an agent asks for more, and when the sandbox stopped a command.',
  },
  never: { label: 'Never', detail: 'You are never asked. What would need your word is refused.' },
  granular: {
    label: 'Granular',
    detail: 'You are asked the questions that are on. The others are answered with no.',
  },
};

export const questionWords: Readonly<Record<QuestionKind, Words>> = {
  sandbox: {
    label: 'About the sandbox',
    detail: 'Dangerous commands, leaving the sandbox, and what the sandbox stopped.',
  },
  rules: { label: 'By rules', detail: 'Rules that say “prompt”.' },
  permissions: { label: 'About permissions', detail: 'More paths or hosts that an agent asks for.' },
};

export const sourceWords: Readonly<Record<PolicySource, string>> = {
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
  return isUnsandboxed(policy) ? mode : `${mode} · network ${shortNetwork[policy.network]}`;
}

const shortNetwork: Readonly<Record<NetworkMode, string>> = { off: 'off', 'allow-list': 'limited', on: 'on' };

/** How many entries the allow-list has, in words. */
export function hostCount({ hosts }: SandboxPolicy): string {
  const { length } = hosts.allow;
  return length === 0 ? 'no host' : length === 1 ? '1 host' : `${length} hosts`;
}

/** How far the network reaches, where it is said that this is about the network. */
export function networkValue(policy: SandboxPolicy): string {
  return policy.network === 'allow-list' ? `limited to ${hostCount(policy)}` : shortNetwork[policy.network];
}

/** Each clause with who decided it, one per entry. */
export function clauseLines(policy: SandboxPolicy): readonly string[] {
  const { sources } = policy;
  const line = (name: string, value: string, clause: PolicyClause): string =>
    `${name}: ${value} (${sourceWords[sources[clause]]})`;
  const mode = line('Mode', modeWords[policy.mode].label, 'mode');
  if (isUnsandboxed(policy)) {
    return [mode];
  }
  const added = writableRoots(policy).filter((path) => path !== policy.root);
  return [
    mode,
    line('Network', networkValue(policy), 'network'),
    line('Git', gitWords[policy.git].label.toLowerCase(), 'git'),
    line('Caches', policy.caches, 'caches'),
    line('Temporary folder', policy.tmp, 'tmp'),
    ...(policy.mode === 'workspace-write' && added.length > 0
      ? [line('Also writable', added.join(', '), 'writableRoots')]
      : []),
  ];
}

/** What a person can do about a denial by that clause, where they look: the hint of a denial is meant for models. */
export function denialCure(clause: PolicyClause | undefined): string {
  switch (clause) {
    case 'mode':
      return 'If commands should change files in this folder, choose “Workspace write” in the status bar.';
    case 'network':
      return 'If commands should reach the network from this folder, choose “Network on” in the status bar, or limit it to hosts.';
    case 'hosts':
      return 'If commands should reach that host, allow it in the setting “Sandbox: Hosts”.';
    case 'writableRoots':
      return 'If commands should write there, add that folder to the setting “Sandbox: Writable Roots”.';
    case 'files':
      return 'If commands should have that file or folder, give it an access in the setting “Sandbox: Files”.';
    case 'git':
      return 'If commands should write in .git, choose who may in the setting “Sandbox: Git”.';
    case 'caches':
      return 'If commands should keep what they download, choose where in the setting “Sandbox: Caches”.';
    case 'sockets':
      return 'If commands should talk to that service, add its socket to the setting “Sandbox: Sockets”.';
    case 'limits':
      return 'If commands may use more, raise the limit in the settings “Sandbox: Limits”.';
    case 'tmp':
    case 'environment':
    case undefined:
      return 'Look at what the command tried, and whether it should: the status bar and the settings widen the policy.';
  }
}
