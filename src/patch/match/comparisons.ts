import { trim, trimEnd } from '../text/whitespace.ts';

/** The ways of comparing two lines, strictest first (reference §4). */
export const comparisons = ['exact', 'end', 'bothEnds', 'typography'] as const;
export type Comparison = (typeof comparisons)[number];

/** Two lines are equal under a comparison when their keys are. */
export const keyUnder: Readonly<Record<Comparison, (line: string) => string>> = {
  exact: (line) => line,
  end: trimEnd,
  bothEnds: trim,
  typography: (line) => plainTypography(trim(line)),
};

/** What each looser comparison overlooks, for people. */
export const overlooked: Readonly<Record<Comparison, string>> = {
  exact: 'nothing',
  end: 'white space at the end of lines',
  bothEnds: 'indentation and white space at the end of lines',
  typography: 'indentation and typographic quotes, dashes and blanks',
};

/** Complete: the reference was asked about every character (its §4). */
const plainCharacters: readonly (readonly [plain: string, typographic: RegExp])[] = [
  ['-', /[\u2010-\u2015\u2212]/g],
  ["'", /[\u2018-\u201b]/g],
  ['"', /[\u201c-\u201f]/g],
  [' ', /[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g],
];
const needsReplacing = /[\u00a0\u2002-\u205f\u2212\u3000]/;

function plainTypography(line: string): string {
  return needsReplacing.test(line)
    ? plainCharacters.reduce((text, [plain, typographic]) => text.replace(typographic, plain), line)
    : line;
}
