import type { PatchError } from '../../patch/patchError.ts';
import type { FileOutcome, ReviewOutcome } from '../../patch/patchHost.ts';
import { formatPatchError } from '../../patch/plan/formatPatchError.ts';
import { formatSummary } from '../../patch/plan/formatSummary.ts';
import type { Plan } from '../../patch/plan/plan.ts';
import type { WriteRefusal } from '../../sandbox/writeAccess.ts';
import type { ToolResult } from '../tools/tool.ts';
import { toolError } from '../tools/tool.ts';

// What the model reads about a patch call. First lines are the reference's, because models have seen them.

/** The patch does not parse or does not fit the files; nothing was touched. */
export function verificationFailed(error: PatchError): ToolResult {
  if (error.kind === 'apply.no_files') {
    return emptyPatch();
  }
  if (isOfMachine(error)) {
    return failedThere(error);
  }
  const message = error.message
    .replace(/^Invalid patch hunk on line (\d+): /, 'invalid hunk at line $1, ')
    .replace(/^Invalid patch: /, 'invalid patch: ');
  return refusal(`apply_patch verification failed: ${formatPatchError({ ...error, message })}`);
}

export function emptyPatch(): ToolResult {
  return refusal('patch rejected: empty patch');
}

export function environmentUnavailable(): ToolResult {
  return refusal('apply_patch environment selection is unavailable for this turn');
}

/** The policy does not allow some of the writes, and nobody can be asked or the person must act first. */
export function notAllowed(refusals: readonly WriteRefusal[]): ToolResult {
  const isReadOnly = refusals.some(({ reason }) => reason === 'read-only' || reason === 'untrusted');
  const reason = isReadOnly ? 'writing is blocked by read-only sandbox' : 'writing outside of the project';
  const hints = new Set(refusals.map(({ hint }) => hint));
  return refusal(
    [
      `patch rejected: ${reason}; rejected by user approval settings`,
      ...refusals.map(({ message, clause }) => `${message} (clause: ${clause})`),
      ...hints,
      'Nothing was changed.',
    ].join('\n'),
  );
}

export function nobodyReviews(): ToolResult {
  return refusal(
    'patch rejected: cordon.patch.review is "always" for this folder, and there is nobody to review it here.\n' +
      'Nothing was changed. Ask the person to set cordon.patch.review to "outsideRules" or "never".',
  );
}

export function applied(plan: Plan, notes: readonly string[], wallTimeMs: number): ToolResult {
  return executed(0, wallTimeMs, [formatSummary(plan.summary), ...noteLines([...plan.notes, ...notes])]);
}

export function applyFailed(error: PatchError, wallTimeMs: number): ToolResult {
  if (isOfMachine(error)) {
    return failedThere(error);
  }
  return executed(1, wallTimeMs, [formatPatchError(error)]);
}

/** Nothing is wrong with the patch. */
function isOfMachine({ kind }: PatchError): boolean {
  return kind === 'machine' || kind === 'lost';
}

function failedThere({ message, hint = '' }: PatchError): ToolResult {
  return toolError('apply_patch', { message, hint });
}

export function aborted(wallTimeMs: number, explanation?: string): ToolResult {
  const lines = [`Wall time: ${seconds(wallTimeMs)} seconds`, 'aborted by user'];
  return refusal([...lines, ...(explanation === undefined ? [] : [explanation])].join('\n'));
}

/** What a person made of the patch. */
export function reviewed(plan: Plan, outcome: ReviewOutcome, wallTimeMs: number): ToolResult {
  switch (outcome.kind) {
    case 'obsolete': {
      const { text } = verificationFailed(outcome.error);
      return refusal(
        `${text}\nThe files changed while the patch waited for its review. Nothing was changed.`,
      );
    }
    case 'failed':
      return applyFailed(outcome.error, wallTimeMs);
    case 'abandoned':
      return aborted(wallTimeMs, 'The patch still waits for its review and may be applied later.');
    case 'decided':
      return decided(plan, outcome, wallTimeMs);
  }
}

function decided(
  plan: Plan,
  { files, comment, notes }: ReviewOutcome & { readonly kind: 'decided' },
  wallTimeMs: number,
): ToolResult {
  const taken = files.filter(({ decision }) => decision !== 'rejected');
  const comments = comment === undefined ? [] : [`Comment of the person: ${comment}`];
  const details = files.filter((file) => file.decision !== 'accepted' || file.comment !== undefined);
  if (taken.length === 0) {
    const reasons = details.filter((file) => file.comment !== undefined).map(describeOutcome);
    return refusal(['patch rejected by user', ...comments, ...reasons, ...noteLines(notes)].join('\n'));
  }
  const isWhole = taken.length === files.length;
  return executed(0, wallTimeMs, [
    formatSummary(isWhole ? plan.summary : summaryOf(taken)),
    ...(details.some(({ decision }) => decision !== 'accepted')
      ? [
          'The person reviewed the patch and did not take all of it as proposed:',
          ...files.map(describeOutcome),
        ]
      : details.map(describeOutcome)),
    ...comments,
    ...noteLines([...plan.notes, ...notes]),
  ]);
}

function describeOutcome({ name, decision, comment, diff }: FileOutcome): string {
  const words = {
    accepted: 'accepted',
    rejected: 'rejected, not applied',
    changed: 'applied with changes by the person',
  }[decision];
  return [
    `- ${name}: ${words}${comment === undefined ? '' : ` (comment: ${comment})`}`,
    ...(diff === undefined ? [] : ['From what you proposed to what was applied:', diff.trimEnd()]),
  ].join('\n');
}

function summaryOf(files: readonly FileOutcome[]): Plan['summary'] {
  const names = (letter: FileOutcome['letter']): string[] =>
    files.filter((file) => file.letter === letter).map(({ name }) => name);
  return { added: names('A'), modified: names('M'), deleted: names('D') };
}

function noteLines(notes: readonly string[]): string[] {
  return notes.map((note) => `Note: ${note}`);
}

function executed(exitCode: 0 | 1, wallTimeMs: number, output: readonly string[]): ToolResult {
  const lines = output.map((part) => part.trimEnd());
  const head = `Exit code: ${exitCode}\nWall time: ${seconds(wallTimeMs)} seconds\nOutput:\n`;
  return { text: `${head}${lines.join('\n')}\n`, isError: exitCode !== 0 };
}

function refusal(text: string): ToolResult {
  return { text, isError: true };
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(4);
}
