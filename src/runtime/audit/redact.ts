import type { Range } from './commandText.ts';
import { CommandText } from './commandText.ts';
import { findSecrets } from './findSecrets.ts';
import { isSecretName } from './secretNames.ts';

/** Takes the secrets out of a text. */
export type Redactor = (text: string) => string;

const replacement = '[redacted]';
/** Shorter values stand in too many texts by chance. */
const minValueLength = 6;
/** Of a value with several lines, such as a key, each that says something. */
const minLineLength = 16;

/** {@link createRedactor} for a single text. */
export function redact(text: string, environment: Readonly<Record<string, string | undefined>>): string {
  return createRedactor(environment)(text);
}

/**
 * Replaces by `[redacted]` what looks like a secret: values of variables that are called so, wherever they are
 * spelled out; values of options, assignments, headers and addresses; tokens and keys with a known shape. Every text
 * is also read without its quotes and backslashes, so that a secret is found however a shell's user splits it. Rather
 * takes too much: what is left must be fit to be shown to somebody.
 */
export function createRedactor(environment: Readonly<Record<string, string | undefined>>): Redactor {
  const values = secretValues(environment);
  const bareValues = values.map((value) => bareOf(value)?.text ?? value);
  return (text) => {
    const found = [...findSecrets(new CommandText(text, { isBare: false })), ...occurrences(text, values)];
    const bare = bareOf(text);
    if (bare !== undefined) {
      const { places } = bare;
      const inBare = [
        ...findSecrets(new CommandText(bare.text, { isBare: true })),
        ...occurrences(bare.text, bareValues),
      ];
      found.push(...inBare.map(([start, end]) => [places[start] ?? 0, (places[end - 1] ?? 0) + 1] as const));
    }
    return replace(text, found);
  };
}

function secretValues(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = Object.entries(environment)
    .filter(([name]) => isSecretName(name))
    .flatMap(([, value = '']) => [
      value,
      encodeURIComponent(value.toWellFormed()),
      ...value.split('\n').filter((line) => line.length >= minLineLength),
    ]);
  return [...new Set(values)].filter((value) => value.length >= minValueLength);
}

function occurrences(text: string, values: readonly string[]): readonly Range[] {
  const found: Range[] = [];
  for (const value of values) {
    for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
      found.push([at, at + value.length]);
    }
  }
  return found;
}

interface BareText {
  readonly text: string;
  /** Where each character of it stands in the original. */
  readonly places: Int32Array;
}

/** A text without quotes, backslashes and continued lines; undefined when it has none. */
function bareOf(text: string): BareText | undefined {
  if (!/["'\\]/.test(text)) {
    return undefined;
  }
  const places = new Int32Array(text.length);
  let bare = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '\\' && text[at + 1] === '\n') {
      at += 1;
    } else if (character !== '"' && character !== "'" && character !== '\\') {
      places[bare.length] = at;
      bare += character;
    }
  }
  return { text: bare, places };
}

function replace(text: string, ranges: readonly Range[]): string {
  let result = '';
  let done = 0;
  let open = 0;
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    if (end <= open) {
      continue;
    }
    if (start > open || open === 0) {
      result += `${text.slice(done, start)}${replacement}`;
    }
    open = end;
    done = end;
  }
  return result + text.slice(done);
}
