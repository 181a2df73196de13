import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { FileOutcome } from '../patchHost.ts';
import type { PatchError } from '../patchError.ts';
import { unifiedDiff } from '../diff/unifiedDiff.ts';
import type { Plan, PlannedChange } from '../plan/plan.ts';
import { selectChanges } from '../plan/selectChanges.ts';
import type { Review } from './review.ts';
import {
  bytesAfter,
  decisionOf,
  encodeRight,
  hunksOf,
  isAsProposed,
  resultName,
  resultPath,
} from './reviewFile.ts';
import type { ReviewFile } from './reviewFile.ts';

export interface Conclusion {
  /** What is to be applied. */
  readonly plan: Plan;
  readonly files: readonly FileOutcome[];
}

/** What a decided review comes to. Fails when a file's encoding cannot hold what the person typed. */
export function concludeReview(review: Review): Result<Conclusion, PatchError> {
  const decisions = new Map<PlannedChange, 'rejected' | Buffer>();
  const files: FileOutcome[] = [];
  for (const file of review.files) {
    const decision = contentOf(file);
    if (!decision.ok) {
      return decision;
    }
    if (decision.value !== undefined) {
      decisions.set(file.change, decision.value);
    }
    files.push(outcomeOf(review, file, decision.value));
  }
  return ok({ plan: selectChanges(review.plan, decisions), files });
}

/** Undefined for exactly what was planned. */
function contentOf(file: ReviewFile): Result<'rejected' | Buffer | undefined, PatchError> {
  if (decisionOf(file) === 'rejected') {
    return ok('rejected');
  }
  if (isAsProposed(file)) {
    return ok(undefined);
  }
  const bytes = encodeRight(file);
  const path = resultPath(file.change);
  return bytes === undefined
    ? fail({
        kind: 'encoding',
        path,
        message: `${path} was not written: it is not UTF-8, and the edited text has characters outside of Latin-1.`,
        hint: 'Remove these characters on the right side of the diff, or save the file as UTF-8 first.',
      })
    : ok(bytes);
}

function outcomeOf(review: Review, file: ReviewFile, content: 'rejected' | Buffer | undefined): FileOutcome {
  const { change } = file;
  return {
    name: resultName(change),
    decision: content === undefined ? 'accepted' : content === 'rejected' ? 'rejected' : 'changed',
    letter: letterOf(review, change),
    diff: Buffer.isBuffer(content) ? diffFromProposed(change, content) : undefined,
    comment: commentsOf(file),
  };
}

function letterOf({ plan }: Review, change: PlannedChange): FileOutcome['letter'] {
  if (change.kind === 'delete') {
    return 'D';
  }
  // An add that overwrites is an update of the file, and still reported as an add.
  return change.kind === 'create' || plan.summary.added.includes(change.name) ? 'A' : 'M';
}

function diffFromProposed(change: PlannedChange, content: Buffer): string {
  const proposed = bytesAfter(change) ?? Buffer.alloc(0);
  const entry = { kind: 'file', mode: 0o644, size: proposed.length, version: '' } as const;
  return unifiedDiff({
    kind: 'update',
    path: resultPath(change),
    name: resultName(change),
    before: { entry, bytes: proposed },
    after: content,
  });
}

/** The comment on the file, then those on its hunks with the proposal's lines that they are about. */
function commentsOf(file: ReviewFile): string | undefined {
  const comments = hunksOf(file).flatMap(({ comment, proposed, before }) => {
    const subject = (proposed.find((line) => line.trim() !== '') ?? before[0] ?? '').trim();
    return comment === undefined ? [] : [`at "${subject}": ${comment}`];
  });
  const all = file.comment === undefined ? comments : [file.comment, ...comments];
  return all.length === 0 ? undefined : all.join('\n');
}
