import type { Finding } from './finding.ts';

/** For a person and a model: the first finding, and how many more there are. */
export function findingLines(findings: readonly Finding[]): string[] {
  const [first, ...others] = findings;
  if (first === undefined) {
    return [];
  }
  const places = others.slice(0, 3).map(({ path }) => path);
  const more = others.length > places.length ? ' and more' : '';
  return [
    first.message,
    ...(places.length > 0 ? [`The same kind of thing was put right at ${places.join(', ')}${more}.`] : []),
  ];
}
