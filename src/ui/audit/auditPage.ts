import type { AuditEntry } from '../../runtime/audit/auditEntry.ts';
import type { AuditFilter } from '../../runtime/audit/auditFilter.ts';
import { auditLines } from '../../runtime/audit/auditWords.ts';
import type { AuditDamage } from '../../runtime/audit/readAudit.ts';

export interface AuditPage {
  readonly folder: string;
  readonly filter: AuditFilter;
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** There are older ones that fit. */
  readonly hasMore: boolean;
  readonly damage: AuditDamage;
}

/** What was found in the audit log, as text to read and to search in. */
export function auditPage({ folder, filter, entries, hasMore, damage }: AuditPage): string {
  return [
    '# Audit log',
    filterWords(filter),
    entries.length === 0 ? 'Nothing was found.' : entries.flatMap(auditLines).join('\n'),
    ...(hasMore ? [`These are the newest ${entries.length}. The files have the older ones.`] : []),
    '## Where it is',
    `JSON lines in ${folder}, readable for you only. \`cordon audit --folder ${shellWord(folder)}\` reads them in a terminal.`,
    ...damageWords(damage),
    '',
  ].join('\n\n');
}

function filterWords({ root, outcome, command }: AuditFilter): string {
  const parts = [
    root === undefined ? 'of all folders' : `of ${root}`,
    ...(outcome === undefined ? [] : [`that were ${outcome}`]),
    ...(command === undefined ? [] : [`with “${command}” in the command`]),
  ];
  return `Entries ${parts.join(', ')}; newest first.`;
}

function damageWords({ bytes, lines, files }: AuditDamage): readonly string[] {
  return [
    ...(lines === 0
      ? []
      : [
          `${lines} lines (${bytes} bytes) could not be read: they were cut off when a window was killed or a disk was full, or are damaged.`,
        ]),
    ...files.map(({ path, reason }) => `${path} could not be read: ${reason}`),
  ];
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
