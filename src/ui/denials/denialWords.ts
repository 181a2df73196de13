import { relative } from 'node:path';
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

/** What was reached for: a host, a path (relative when it is in the root), or else the command. */
export function denialLabel({ denial: { host, path }, root, commandLine }: DenialRecord): string {
  if (host !== undefined || path === undefined) {
    return oneLine(host ?? commandLine, maxLength).text;
  }
  const place = relative(root.path, path);
  return oneLine(place === '' || place.startsWith('..') ? path : place, maxLength).text;
}

/** What a row says beside that. `rootName` is empty where there is only one root. */
export function denialWords(
  { denial, sessionId, commandLine, at }: DenialRecord,
  rootName: string,
  now: Date,
): string {
  const clause = denial.clause === undefined ? 'unknown clause' : clauseWords[denial.clause];
  const command = (denial.host ?? denial.path) ? oneLine(commandLine, maxLength).text : '';
  return [clause, `session ${sessionId}`, rootName, timeWords(at, now), command]
    .filter((part) => part !== '')
    .join(' · ');
}

const maxLength = 120;
