import type { LineEdit } from '../../patch/plan/plan.ts';

/** A problem that the editor shows in a file; line and column are counted from 0. */
export interface Problem {
  readonly line: number;
  readonly endLine: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly source: string | undefined;
}

/** Lines of the new file, the last one not included. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** The problems that were not there before. They count as the same wherever they stand: lines move in a patch. */
export function newProblems(before: readonly Problem[], after: readonly Problem[]): readonly Problem[] {
  const known = new Map<string, number>();
  for (const problem of before) {
    known.set(keyOf(problem), (known.get(keyOf(problem)) ?? 0) + 1);
  }
  return after.filter((problem) => {
    const left = known.get(keyOf(problem)) ?? 0;
    known.set(keyOf(problem), left - 1);
    return left <= 0;
  });
}

/** The problems that touch a range: of a file whose problems before are not known, only these may be new. */
export function problemsIn(ranges: readonly LineRange[], problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ line, endLine }) =>
    ranges.some(({ start, end }) => line < end && endLine >= start),
  );
}

/** Where the edits left new lines; where they only removed some, the line that follows counts. */
export function changedRanges(edits: readonly LineEdit[]): readonly LineRange[] {
  let shift = 0;
  return edits.map(({ start, removed, added }) => {
    const first = start + shift;
    shift += added.length - removed;
    return { start: first, end: first + Math.max(1, added.length) };
  });
}

/** One line for each problem, as compilers print them, worst first; undefined when there is none. */
export function problemsNote(
  files: readonly { readonly name: string; readonly problems: readonly Problem[] }[],
): string | undefined {
  const lines = (['error', 'warning'] as const).flatMap((severity) =>
    files.flatMap(({ name, problems }) =>
      problems.filter((problem) => problem.severity === severity).map((problem) => lineOf(name, problem)),
    ),
  );
  if (lines.length === 0) {
    return undefined;
  }
  const more = lines.length > maxLines ? [`… and ${lines.length - maxLines} more`] : [];
  return ['Problems that appeared with this patch:', ...lines.slice(0, maxLines), ...more].join('\n');
}

const maxLines = 20;
const maxMessageLength = 300;

function lineOf(name: string, { line, column, severity, message, source }: Problem): string {
  const text = message.replace(/\s+/g, ' ').trim();
  const short = text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text;
  return `${name}:${line + 1}:${column + 1} ${severity} ${short}${source === undefined ? '' : ` [${source}]`}`;
}

function keyOf({ severity, message, source }: Problem): string {
  return JSON.stringify([severity, message, source]);
}
