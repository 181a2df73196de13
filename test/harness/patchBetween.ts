import { splitLines, withoutLineEnd } from '../../src/patch/text/lines.ts';
import type { Files } from './randomPatches.ts';

/** A patch that leads from some files to others. Every text ends in a line feed or is empty; ends are LF throughout. */
export function patchBetween(from: Files, to: Files): string {
  const removed = Object.keys(from).filter((name) => !(name in to));
  const changed = Object.keys(to).filter((name) => name in from && from[name] !== to[name]);
  const added = Object.keys(to).filter((name) => !(name in from));
  return [
    '*** Begin Patch',
    ...removed.map((name) => `*** Delete File: ${name}`),
    ...changed.flatMap((name) => update(name, from[name] ?? '', to[name] ?? '')),
    ...added.flatMap((name) => [`*** Add File: ${name}`, ...signed('+', to[name] ?? '')]),
    '*** End Patch',
    '',
  ].join('\n');
}

/** The lines in the middle that differ, between all the others as context: they stand in one place only. */
function update(name: string, from: string, to: string): string[] {
  const [before, after] = [splitLines(from), splitLines(to)];
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  while (
    tail < Math.min(before.length, after.length) - head &&
    before.at(-1 - tail) === after.at(-1 - tail)
  ) {
    tail += 1;
  }
  return [
    `*** Update File: ${name}`,
    '@@',
    ...signed(' ', before.slice(0, head).join('')),
    ...signed('-', before.slice(head, before.length - tail).join('')),
    ...signed('+', after.slice(head, after.length - tail).join('')),
    ...signed(' ', before.slice(before.length - tail).join('')),
  ];
}

function signed(sign: string, text: string): string[] {
  return splitLines(text).map((line) => sign + withoutLineEnd(line));
}
