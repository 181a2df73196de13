import { editsOfBytes } from '../text/editsOfBytes.ts';
import { summaryOf } from './formatSummary.ts';
import type { FileBefore, Plan, PlannedChange } from './plan.ts';

/** A file that is to have this content, whatever led to it. */
export interface WantedContent {
  /** Where the entry really is. */
  readonly path: string;
  /** What a person knows it as. */
  readonly name: string;
  /** What is there now; undefined when there is nothing. */
  readonly before: FileBefore | undefined;
  /** What is to be there; undefined when there is to be nothing. */
  readonly after: Buffer | undefined;
  /** Permission bits of the result when they differ from those of `before`. */
  readonly mode?: number | undefined;
}

/** A plan that leads to given contents, without a patch: for restoring what files were. */
export function planFromContents(wanted: readonly WantedContent[]): Plan {
  const changes = wanted.flatMap(changeTo);
  return { changes, summary: summaryOf(changes), notes: [] };
}

function changeTo({ path, name, before, after, mode }: WantedContent): PlannedChange[] {
  if (before === undefined) {
    return after === undefined ? [] : [{ kind: 'create', path, name, after, mode }];
  }
  if (after === undefined) {
    return [{ kind: 'delete', path, name, before }];
  }
  const keepsMode = mode === undefined || mode === before.entry.mode;
  return before.bytes.equals(after) && keepsMode
    ? []
    : [{ kind: 'update', path, name, before, after, mode, edits: editsOfBytes(before.bytes, after) }];
}
