import { diff3Merge } from 'node-diff3';

export interface MergedLines {
  readonly lines: readonly string[];
  readonly hasConflicts: boolean;
}

export interface MergeSides {
  readonly base: readonly string[];
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  /** What the conflict markers call both sides. */
  readonly oursLabel: string;
  readonly theirsLabel: string;
}

/**
 * Merges two descendants of `base`, by lines that carry their line ends. Where both changed the same place, both stay
 * between the usual markers. Undefined when the part that differs is too long to be compared in a bounded time.
 */
export function mergeLines(sides: MergeSides): MergedLines | undefined {
  const { base, ours, theirs } = sides;
  const shortest = Math.min(base.length, ours.length, theirs.length);
  const start = countWhile(shortest, (index) => areSame(base[index], ours[index], theirs[index]));
  const end = countWhile(shortest - start, (index) =>
    areSame(base.at(-1 - index), ours.at(-1 - index), theirs.at(-1 - index)),
  );
  const middle = (lines: readonly string[]): string[] => lines.slice(start, lines.length - end);
  const [a, o, b] = [middle(ours), middle(base), middle(theirs)];
  if (a.length + o.length + b.length > maxComparedLines) {
    return undefined;
  }
  let hasConflicts = false;
  const merged = diff3Merge(a, o, b, { excludeFalseConflicts: true }).flatMap((region) => {
    if (region.conflict === undefined) {
      return region.ok ?? [];
    }
    hasConflicts = true;
    return marked(region.conflict.a, region.conflict.b, sides);
  });
  return {
    lines: [...ours.slice(0, start), ...merged, ...ours.slice(ours.length - end)],
    hasConflicts,
  };
}

/** Comparing takes time with the square of the lines that occur often. */
const maxComparedLines = 30_000;

function marked(ours: readonly string[], theirs: readonly string[], sides: MergeSides): readonly string[] {
  const lineEnd = /\r?\n$/.exec([...ours, ...theirs, ...sides.ours, ...sides.theirs][0] ?? '')?.[0] ?? '\n';
  const closed = (lines: readonly string[]): readonly string[] =>
    lines.map((line) => (/\n$/.test(line) ? line : `${line}${lineEnd}`));
  return [
    `<<<<<<< ${sides.oursLabel}${lineEnd}`,
    ...closed(ours),
    `=======${lineEnd}`,
    ...closed(theirs),
    `>>>>>>> ${sides.theirsLabel}${lineEnd}`,
  ];
}

function areSame(a: string | undefined, b: string | undefined, c: string | undefined): boolean {
  return a === b && b === c;
}

function countWhile(limit: number, holds: (index: number) => boolean): number {
  let count = 0;
  while (count < limit && holds(count)) {
    count += 1;
  }
  return count;
}
