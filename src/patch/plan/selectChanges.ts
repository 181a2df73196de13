import { editsOfBytes } from '../text/editsOfBytes.ts';
import { summaryOf } from './formatSummary.ts';
import type { Plan, PlannedChange } from './plan.ts';

/** What a person decided about a change: not at all, or with this content instead of the planned one. */
export type ChangeDecision = 'rejected' | Buffer;

/** The plan with a person's decisions; changes without one are as planned. */
export function selectChanges(plan: Plan, decisions: ReadonlyMap<PlannedChange, ChangeDecision>): Plan {
  if (decisions.size === 0) {
    return plan;
  }
  const changes = plan.changes.flatMap((change) => {
    const decision = decisions.get(change);
    return decision === undefined ? [change] : decision === 'rejected' ? [] : withContent(change, decision);
  });
  return { changes, summary: summaryOf(changes), notes: plan.notes };
}

function withContent(change: PlannedChange, after: Buffer): PlannedChange[] {
  switch (change.kind) {
    case 'create':
      return [{ ...change, after }];
    case 'update':
      return change.before.bytes.equals(after)
        ? []
        : [{ ...change, after, edits: editsOfBytes(change.before.bytes, after) }];
    case 'move':
      return [{ ...change, after, edits: editsOfBytes(change.before.bytes, after) }];
    case 'delete': {
      const { path, name, before } = change;
      return 'bytes' in before
        ? withContent({ kind: 'update', path, name, before, after: before.bytes }, after)
        : [];
    }
  }
}
