import { capitalize } from '../../base/capitalize.ts';
import { formatHostPattern } from '../../sandbox/policy/hostRules.ts';
import type { Access } from '../../sandbox/policy/fileRules.ts';
import { isUnsandboxed, writableRoots } from '../../sandbox/policy/policy.ts';
import type { PolicyClause, SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { heldNames, protectedNames } from '../../sandbox/policy/protectedNames.ts';
import { limitFacts, purposeOf, sortedFiles, variableNames } from '../policyFacts.ts';
import { cacheWords, gitWords, modeWords, networkValue, networkWords, tmpWords } from '../policyWords.ts';
import type { Words } from '../policyWords.ts';
import type { Change } from './change.ts';
import { changeOf } from './change.ts';
import type { PolicyRow } from './policyRow.ts';
import { counted, row } from './policyRow.ts';

/** The clauses of a policy; without a sandbox only the mode, since nothing else counts then. */
export function clauseRows(
  policy: SandboxPolicy,
  parentEnv: Readonly<Record<string, string | undefined>> | undefined,
): readonly PolicyRow[] {
  const mode = modeRow(policy);
  return isUnsandboxed(policy)
    ? [mode]
    : [
        mode,
        filesRow(policy),
        writableRootsRow(policy),
        wordsRow(policy, 'git', 'Git', 'git-branch', gitWords[policy.git]),
        wordsRow(policy, 'caches', 'Caches', 'archive', cacheWords[policy.caches]),
        wordsRow(policy, 'tmp', 'Temporary Folder', 'inbox', tmpWords[policy.tmp]),
        networkRow(policy),
        hostsRow(policy),
        socketsRow(policy),
        environmentRow(policy, parentEnv),
        limitsRow(policy),
      ];
}

/** What every row of a clause has: its source, and where it is changed. */
function clause(
  { sources }: SandboxPolicy,
  id: PolicyClause,
  own?: Change,
): Pick<PolicyRow, 'id'> & {
  readonly source: SandboxPolicy['sources'][PolicyClause];
  readonly change: Change;
} {
  const source = sources[id];
  return { id, source, change: changeOf(source, `cordon.sandbox.${id}`, own) };
}

function modeRow(policy: SandboxPolicy): PolicyRow {
  const { label, detail } = modeWords[policy.mode];
  const open = isUnsandboxed(policy);
  return row({
    ...clause(policy, 'mode', { kind: 'picker' }),
    label: 'Mode',
    value: label,
    detail: open ? [detail, 'Nothing is confined, so no other clause counts.'] : [detail],
    icon: open ? 'warning' : 'shield',
    ...(open && { tone: 'warning' }),
  });
}

function wordsRow(
  policy: SandboxPolicy,
  id: PolicyClause,
  label: string,
  icon: string,
  { label: value, detail }: Words,
): PolicyRow {
  return row({ ...clause(policy, id), label, value, detail: [detail], icon });
}

function networkRow(policy: SandboxPolicy): PolicyRow {
  return row({
    ...clause(policy, 'network', { kind: 'picker' }),
    label: 'Network',
    value: networkValue(policy),
    detail: [networkWords[policy.network].detail],
    icon: 'globe',
    ...(policy.network === 'on' && { tone: 'warning' }),
  });
}

const accessIcons: Readonly<Record<Access, string>> = { none: 'eye-closed', read: 'eye', write: 'save' };
const accessWords: Readonly<Record<Access, string>> = { none: 'hidden', read: 'read', write: 'write' };

function filesRow(policy: SandboxPolicy): PolicyRow {
  const rules = sortedFiles(policy).map((rule) =>
    row({
      id: `files/${rule.path}`,
      label: rule.path,
      value: [accessWords[rule.access], purposeOf(rule, policy)].filter((part) => part !== '').join(' · '),
      source: rule.source,
      icon: accessIcons[rule.access],
      change: changeOf(rule.source, 'cordon.sandbox.files'),
    }),
  );
  const hidden = policy.hidden.map(({ glob, folder, source }, index) =>
    row({
      id: `hidden/${index}`,
      label: glob,
      value: `hidden below ${folder}`,
      source,
      icon: accessIcons.none,
      change: changeOf(source, 'cordon.sandbox.files'),
    }),
  );
  return row({
    ...clause(policy, 'files'),
    label: 'Files',
    value: [
      counted(rules.length, 'rule'),
      ...(hidden.length === 0 ? [] : [counted(hidden.length, 'hidden name')]),
    ].join(', '),
    detail: ['The deepest path decides about everything below it.'],
    icon: 'files',
    rows: [...rules, ...hidden, ...protectedRows(policy)],
  });
}

function protectedRows(policy: SandboxPolicy): readonly PolicyRow[] {
  return writableRoots(policy).length === 0
    ? []
    : [
        row({
          id: 'protected',
          label: 'Protected names',
          value: protectedNames.join(', '),
          detail: [
            `In folders that commands may write, these stay read-only: ${protectedNames.join(', ')}.`,
            `Where they are missing, these cannot be made: ${heldNames.join(', ')}.`,
          ],
          icon: 'lock',
        }),
      ];
}

function writableRootsRow(policy: SandboxPolicy): PolicyRow {
  const roots = writableRoots(policy);
  const added = roots.filter((path) => path !== policy.root);
  const folder = roots.includes(policy.root) ? ['this folder'] : [];
  return row({
    ...clause(policy, 'writableRoots'),
    label: 'Writable Roots',
    value: [...folder, ...(added.length === 0 ? [] : [`${added.length} more`])].join(' and ') || 'none',
    detail: ['Folders that commands may write, apart from the protected names in them.'],
    icon: 'folder-opened',
    rows: roots.map((path) =>
      row({
        id: `writableRoots/${path}`,
        label: path,
        value: path === policy.root ? 'the folder itself' : '',
        icon: 'folder',
      }),
    ),
  });
}

function hostsRow(policy: SandboxPolicy): PolicyRow {
  const { allow, deny } = policy.hosts;
  const counts = [
    counted(allow.length, 'host'),
    ...(deny.length === 0 ? [] : [`${deny.length} denied`]),
    ...(policy.network === 'allow-list' ? [] : ['not in use']),
  ];
  return row({
    ...clause(policy, 'hosts'),
    label: 'Hosts',
    value: counts.join(', '),
    detail: [
      policy.network === 'allow-list'
        ? 'What is denied outranks what is allowed. Addresses of this machine and of private networks must be named.'
        : 'They count when the network is limited to allowed hosts.',
    ],
    icon: 'list-unordered',
    rows: [
      ...allow.map((host) => hostRow('allowed', formatHostPattern(host))),
      ...deny.map((host) => hostRow('denied', formatHostPattern(host))),
    ],
  });
}

function hostRow(value: 'allowed' | 'denied', host: string): PolicyRow {
  return row({
    id: `hosts/${value} ${host}`,
    label: host,
    value,
    icon: value === 'allowed' ? 'pass' : 'circle-slash',
  });
}

function socketsRow(policy: SandboxPolicy): PolicyRow {
  return row({
    ...clause(policy, 'sockets'),
    label: 'Sockets',
    value: counted(policy.sockets.length, 'socket'),
    detail: [
      'Sockets of the machine’s services that commands reach. Sockets that they make themselves work anyway.',
    ],
    icon: 'plug',
    rows: policy.sockets.map((path) => row({ id: `sockets/${path}`, label: path, icon: 'plug' })),
  });
}

function environmentRow(
  policy: SandboxPolicy,
  parentEnv: Readonly<Record<string, string | undefined>> | undefined,
): PolicyRow {
  const about = { ...clause(policy, 'environment'), label: 'Environment', icon: 'variable-group' };
  if (parentEnv === undefined) {
    return row({
      ...about,
      value: 'that machine’s',
      detail: ['The variables of that machine, as far as the settings let them through.'],
    });
  }
  const names = variableNames(policy, parentEnv);
  return row({
    ...about,
    value: counted(names.length, 'variable'),
    detail: ['The variables that a command in a terminal gets, without their values.'],
    rows: names.map((name) => row({ id: `environment/${name}`, label: name, icon: 'variable-group' })),
  });
}

function limitsRow(policy: SandboxPolicy): PolicyRow {
  const { source } = clause(policy, 'limits');
  const limits = limitFacts(policy);
  const set = limits.filter(({ name }) => policy.limits[name] !== undefined);
  return row({
    ...clause(policy, 'limits'),
    label: 'Limits',
    value: set.length === 0 ? 'none' : `${set.length} of ${limits.length}`,
    detail: ['What one command may use, with everything that it starts.'],
    icon: 'dashboard',
    rows: limits.map(({ name, words, value }) =>
      row({
        id: `limits/${name}`,
        label: capitalize(words),
        value,
        icon: 'dashboard',
        change: changeOf(source, `cordon.sandbox.limits.${name}`),
      }),
    ),
  });
}
