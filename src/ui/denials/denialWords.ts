import { relative, sep } from 'node:path';
import type { DenialRecord } from '../../runtime/denials/denialLog.ts';
import type { PolicyClause } from '../../sandbox/policy/policy.ts';
import { oneLine } from '../oneLine.ts';
import { timeWords } from '../timeWords.ts';

// What a person reads and hears about denials.

const clauseWords: Readonly<Record<PolicyClause, string>> = {
  mode: 'mode',
  files: 'files',
  writableRoots: 'writable folders',
  git: 'git',
  caches: 'caches',
  tmp: 'temporary folder',
  network: 'network',
  hosts: 'hosts',
  sockets: 'sockets',
  environment: 'environment',
  limits: 'limits',
};

/** What was reached for: a host, the end of a path, a system call, or else the command. */
export function denialLabel({ denial, root, commandLine }: DenialRecord): string {
  const { host, path = denial.socket, call } = denial;
  const place = path === undefined ? undefined : shortPath(path, root.path);
  return oneLine(host ?? place ?? call ?? commandLine, maxLength).text;
}

/** From the root, or its last two names: a side bar is narrow, and cuts the end off. */
function shortPath(path: string, root: string): string {
  const place = relative(root, path);
  const names = path.split(sep);
  const isShort = names.length <= shortNames + 1;
  return place !== '' && !place.startsWith('..')
    ? place
    : isShort
      ? path
      : ['…', ...names.slice(-shortNames)].join(sep);
}

const shortNames = 2;

/** What a row says beside that. `rootName` is empty where there is only one root. */
export function denialWords(record: DenialRecord, rootName: string, now: Date): string {
  const { denial, sessionId, commandLine, at } = record;
  const clause = denial.clause === undefined ? '' : clauseWords[denial.clause];
  const certainty = denial.certainty === 'likely' ? 'likely' : '';
  const command = oneLine(commandLine, maxLength).text;
  return [
    [certainty, clause].filter((part) => part !== '').join(' '),
    `session ${sessionId}`,
    rootName,
    timeWords(at, now),
    command === denialLabel(record) ? '' : command,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

const maxLength = 120;
