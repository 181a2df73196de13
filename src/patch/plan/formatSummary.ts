import type { PatchSummary, PlannedChange } from './plan.ts';

/** The reference's success text: all additions, then all modifications, then all deletions, names as written. */
export function formatSummary({ added, modified, deleted }: PatchSummary): string {
  return [
    'Success. Updated the following files:',
    ...added.map((name) => `A ${name}`),
    ...modified.map((name) => `M ${name}`),
    ...deleted.map((name) => `D ${name}`),
  ].join('\n');
}

export function letterOf(change: PlannedChange): 'A' | 'M' | 'D' {
  return change.kind === 'create' ? 'A' : change.kind === 'delete' ? 'D' : 'M';
}

/** The summary of a list of changes, when it is not the patch's own. */
export function summaryOf(changes: readonly PlannedChange[]): PatchSummary {
  const named = (letter: 'A' | 'M' | 'D'): string[] =>
    changes
      .filter((change) => letterOf(change) === letter)
      .map((change) => (change.kind === 'move' ? change.toName : change.name));
  return { added: named('A'), modified: named('M'), deleted: named('D') };
}
