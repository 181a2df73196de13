import type { StructuredPatch, StructuredPatchHunk } from 'diff';
import { formatPatch } from 'diff';
import type { LineEdit, Plan, PlannedChange } from '../plan/plan.ts';
import { decodeText } from '../text/decode.ts';
import { editsBetween, splitLines } from '../text/lines.ts';

/** Lines of context around a change, as git shows them. */
const defaultContext = 3;

/**
 * A change as git shows it. Its cost grows with the file and the change only, because the places are known from
 * planning (reference §14: the peer's diffs hold a turn for seconds). What is no text is named without its content.
 */
export function unifiedDiff(change: PlannedChange, contextLines = defaultContext): string {
  const { before, after } = contentsOf(change);
  const text = textOf(before);
  const newText = textOf(after);
  const header = headerOf(change);
  if (text === undefined || newText === undefined) {
    const { oldFileName, newFileName } = header;
    return `${formatPatch({ ...header, hunks: [] }).trimEnd()}\nBinary files ${oldFileName ?? ''} and ${newFileName ?? ''} differ\n`;
  }
  // A lone CR ends a line of ours and no line of git's.
  const isGitsLines = !loneCarriageReturn.test(text) && !loneCarriageReturn.test(newText);
  const lines = isGitsLines ? splitLines(text) : splitAtLineFeeds(text);
  const known = isGitsLines && 'edits' in change ? change.edits : undefined;
  const edits = known ?? editsBetween(lines, isGitsLines ? splitLines(newText) : splitAtLineFeeds(newText));
  return formatPatch({ ...header, hunks: hunksOf(lines, edits, contextLines) });
}

const loneCarriageReturn = /\r(?!\n)/;

function splitAtLineFeeds(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The changes of a plan, one below the other. */
export function unifiedDiffOfPlan({ changes }: Plan, contextLines = defaultContext): string {
  return changes.map((change) => unifiedDiff(change, contextLines)).join('');
}

/** The hunks of a unified diff for edits of these lines; the lines carry their ends. */
export function hunksOf(
  lines: readonly string[],
  edits: readonly LineEdit[],
  contextLines = defaultContext,
): StructuredPatchHunk[] {
  const hunks: StructuredPatchHunk[] = [];
  let shift = 0;
  for (let index = 0; index < edits.length;) {
    const group = groupFrom(edits, index, contextLines);
    hunks.push(hunkOf(lines, group, contextLines, shift));
    shift += group.reduce((sum, { removed, added }) => sum + added.length - removed, 0);
    index += group.length;
  }
  return hunks;
}

/** The edits from `first` on that are so near to each other that their context touches. */
function groupFrom(edits: readonly LineEdit[], first: number, contextLines: number): LineEdit[] {
  const group = edits.slice(first, first + 1);
  for (let index = first + 1; index < edits.length; index += 1) {
    const edit = edits[index] as LineEdit;
    const last = group.at(-1) as LineEdit;
    if (edit.start - (last.start + last.removed) > 2 * contextLines) {
      break;
    }
    group.push(edit);
  }
  return group;
}

function hunkOf(
  lines: readonly string[],
  group: readonly LineEdit[],
  contextLines: number,
  shift: number,
): StructuredPatchHunk {
  const first = group[0] as LineEdit;
  const last = group.at(-1) as LineEdit;
  const start = Math.max(0, first.start - contextLines);
  const end = Math.min(lines.length, last.start + last.removed + contextLines);
  const shown: string[] = [];
  let position = start;
  for (const { start: editStart, removed, added } of group) {
    shown.push(...lines.slice(position, editStart).flatMap((line) => shownAs(' ', line)));
    shown.push(...lines.slice(editStart, editStart + removed).flatMap((line) => shownAs('-', line)));
    shown.push(...added.flatMap((line) => shownAs('+', line)));
    position = editStart + removed;
  }
  shown.push(...lines.slice(position, end).flatMap((line) => shownAs(' ', line)));
  const oldLines = end - start;
  const newLines = oldLines + group.reduce((sum, { removed, added }) => sum + added.length - removed, 0);
  return { oldStart: start + 1, oldLines, newStart: start + shift + 1, newLines, lines: shown };
}

/** A CR stays, as in git; a last line without an end gets the usual note. */
function shownAs(sign: ' ' | '-' | '+', line: string): string[] {
  return line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'];
}

function contentsOf(change: PlannedChange): { before: Buffer | undefined; after: Buffer | undefined } {
  const before = 'before' in change && 'bytes' in change.before ? change.before.bytes : undefined;
  return { before, after: 'after' in change ? change.after : undefined };
}

function textOf(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) {
    return '';
  }
  const decoded = decodeText(bytes);
  return decoded.ok ? decoded.value.text : undefined;
}

function headerOf(change: PlannedChange): Omit<StructuredPatch, 'hunks'> {
  const names = { oldFileName: `a/${change.name}`, newFileName: `b/${change.name}` };
  const common = { oldHeader: undefined, newHeader: undefined, isGit: true } as const;
  switch (change.kind) {
    case 'create':
      return { ...common, ...names, oldFileName: '/dev/null', isCreate: true, newMode: gitMode(change.mode) };
    case 'delete': {
      const oldMode = change.before.entry.kind === 'link' ? '120000' : gitMode(change.before.entry.mode);
      return { ...common, ...names, newFileName: '/dev/null', isDelete: true, oldMode };
    }
    case 'move':
      return { ...common, ...names, newFileName: `b/${change.toName}`, isRename: true };
    case 'update':
      return { ...common, ...names };
  }
}

/** Git knows two kinds of files: with the bit to execute them, and without. */
function gitMode(mode: number | undefined): string {
  return mode !== undefined && (mode & 0o100) !== 0 ? '100755' : '100644';
}
