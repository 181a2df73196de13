import { formatHostPattern } from '../sandbox/policy/hostRules.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import type { PolicyClause, SandboxPolicy } from '../sandbox/policy/policy.ts';
import { heldNames, protectedNames } from '../sandbox/policy/protectedNames.ts';
import type { Result } from '../base/result.ts';
import type { ApprovalPolicy } from '../runtime/approvals/approvalPolicy.ts';
import type { Grant } from '../runtime/approvals/grant.ts';
import { environmentSetting } from '../runtime/environments/environments.ts';
import type { PolicyError, Root } from '../runtime/roots.ts';
import { grantEnd, grantLabel, grantOrigin } from './grants/grantWords.ts';
import { limitFacts, purposeOf, sortedFiles, variableNames } from './policyFacts.ts';
import {
  approvalModeWords,
  cacheWords,
  gitWords,
  modeWords,
  networkWords,
  sourceWords,
  tmpWords,
} from './policyWords.ts';
import type { Words } from './policyWords.ts';
import { table } from './textTable.ts';

/** What a page needs to know besides the policy. */
export interface PageSurroundings {
  /** What enforces policies here, or why nothing does; undefined while nobody has looked. */
  readonly launcher: string | undefined;
  /** The environment of the process that starts commands. */
  readonly parentEnv: Readonly<Record<string, string | undefined>>;
  /** Where commands run when that is another machine, whose launcher and environment are not known here. */
  readonly elsewhere?: string | undefined;
  /** When commands of the root are asked about. */
  readonly approval: Result<ApprovalPolicy, PolicyError>;
  /** The grants in force in the root. */
  readonly grants: readonly Grant[];
  readonly now: Date;
}

/** What commands may do in a root, clause by clause, with who decided it and where to change it; as Markdown. */
export function effectivePolicyPage(
  root: Root,
  policy: Result<SandboxPolicy, PolicyError>,
  surroundings: PageSurroundings,
): string {
  const sections = policy.ok ? policySections(policy.value, surroundings) : problemSections(policy.error);
  const { elsewhere = `Commands in \`${root.path}\`.` } = surroundings;
  return [`# The sandbox of ${root.name}`, elsewhere, ...sections, ''].join('\n\n');
}

function problemSections({ field, message, hint }: PolicyError): readonly string[] {
  if (field === environmentSetting) {
    return [message, hint];
  }
  return [
    'No command runs here, because a setting is not valid.',
    '## What is wrong',
    message,
    '## What to do',
    hint,
    `Change: ${field}`,
  ];
}

function policySections(policy: SandboxPolicy, surroundings: PageSurroundings): readonly string[] {
  const mode = section(`Mode: ${modeWords[policy.mode].label}`, policy, 'mode', modeWords[policy.mode]);
  if (isUnsandboxed(policy)) {
    return [
      ...mode,
      'Nothing is confined, so no other clause counts.',
      ...approvalSections(surroundings),
      ...grantSections(surroundings),
    ];
  }
  return [
    'This page follows the settings. Where a clause is changed stands below it; the status bar changes mode, network and profile for this folder.',
    ...mode,
    ...section(networkWords[policy.network].label, policy, 'network', networkWords[policy.network]),
    ...hostSections(policy),
    ...section(`Git: ${gitWords[policy.git].label}`, policy, 'git', gitWords[policy.git]),
    ...section(`Caches: ${cacheWords[policy.caches].label}`, policy, 'caches', cacheWords[policy.caches]),
    ...section(`Temporary folder: ${tmpWords[policy.tmp].label}`, policy, 'tmp', tmpWords[policy.tmp]),
    ...fileSections(policy),
    ...socketSections(policy),
    ...environmentSections(policy, surroundings),
    ...limitSections(policy),
    ...approvalSections(surroundings),
    ...grantSections(surroundings),
    '## Enforced by',
    surroundings.elsewhere === undefined
      ? (surroundings.launcher ?? 'Nobody has looked yet: run “Cordon: Check Sandbox”.')
      : 'The sandbox of that machine. Where it cannot enforce this, the command does not run and says why.',
  ];
}

function section(
  title: string,
  policy: SandboxPolicy,
  clause: PolicyClause,
  { detail }: Words,
): readonly string[] {
  return [`## ${title}`, `${detail}\n${decidedBy(policy, clause)}`];
}

function decidedBy({ sources }: SandboxPolicy, clause: PolicyClause, setting: string = clause): string {
  return `Decided by: ${sourceWords[sources[clause]]}. Change: cordon.sandbox.${setting}`;
}

function fileSections(policy: SandboxPolicy): readonly string[] {
  const rules = sortedFiles(policy);
  const roots = rules.filter(({ access }) => access === 'write').map(({ path }) => path);
  return [
    '## Files',
    'The deepest path decides about everything below it.',
    table(
      ['access', 'path', 'for', 'decided by'],
      rules.map((rule) => [rule.access, rule.path, purposeOf(rule, policy), sourceWords[rule.source]]),
    ),
    decidedBy(policy, 'files'),
    ...(policy.sources.writableRoots === 'default' ? [] : [decidedBy(policy, 'writableRoots')]),
    ...(policy.hidden.length === 0
      ? []
      : [
          '## Hidden names',
          'Whatever matches cannot be read, wherever it lies below the folder.',
          table(
            ['pattern', 'below', 'decided by'],
            policy.hidden.map(({ glob, folder, source }) => [glob, folder, sourceWords[source]]),
          ),
        ]),
    ...(roots.length === 0
      ? []
      : [
          '## Protected names',
          `In folders that commands may write, these stay read-only: ${protectedNames.join(', ')}.`,
          `Where they are missing, these cannot be made: ${heldNames.join(', ')}.`,
        ]),
  ];
}

function hostSections(policy: SandboxPolicy): readonly string[] {
  const { allow, deny } = policy.hosts;
  if (policy.network !== 'allow-list') {
    return [];
  }
  const rows = [
    ...allow.map((host) => ['allow', formatHostPattern(host)]),
    ...deny.map((host) => ['deny', formatHostPattern(host)]),
  ];
  return [
    '## Hosts',
    'What is denied outranks what is allowed. Addresses of this machine and of private networks must be named.',
    rows.length === 0 ? 'No host is allowed: commands reach nothing.' : table(['access', 'host'], rows),
    decidedBy(policy, 'hosts'),
  ];
}

function socketSections(policy: SandboxPolicy): readonly string[] {
  return [
    '## Sockets of this machine',
    policy.sockets.length === 0
      ? 'Commands reach none of the machine’s services. Sockets that they make themselves work.'
      : policy.sockets.map((path) => `- ${path}`).join('\n'),
    decidedBy(policy, 'sockets'),
  ];
}

function environmentSections(
  policy: SandboxPolicy,
  { parentEnv, elsewhere }: PageSurroundings,
): readonly string[] {
  return [
    '## Environment',
    ...(elsewhere === undefined
      ? [
          'The variables that a command in a terminal gets, without their values.',
          variableNames(policy, parentEnv).join(', '),
        ]
      : ['The variables of that machine, as far as the settings let them through; nothing of the editor’s.']),
    decidedBy(policy, 'environment'),
  ];
}

function limitSections(policy: SandboxPolicy): readonly string[] {
  const rows = limitFacts(policy).map(({ words, value }) => [words, value]);
  return ['## Limits', table(['what one command may use', 'at most'], rows), decidedBy(policy, 'limits')];
}

/** They are in the clauses above already: here with their ends. */
function approvalSections({ approval }: PageSurroundings): readonly string[] {
  if (!approval.ok) {
    const { message, hint } = approval.error;
    return ['## When you are asked', `${message} ${hint}`];
  }
  const { mode, source } = approval.value;
  const { label, detail } = approvalModeWords[mode];
  return [
    `## When you are asked: ${label}`,
    `${detail}\nDecided by: ${sourceWords[source]}. Change: cordon.approvals.policy`,
  ];
}

function grantSections({ grants, now }: PageSurroundings): readonly string[] {
  if (grants.length === 0) {
    return [];
  }
  const lines = grants.map(
    (grant) => `- ${grantLabel(grant)}, ${grantEnd(grant, now)}: ${grantOrigin(grant, now)}`,
  );
  return [
    '## Grants',
    'What you allowed beyond the settings; where the workspace or an administrator is stricter, it does not count. Take it back with “Cordon: Revoke Grants…”.',
    lines.join('\n'),
  ];
}
