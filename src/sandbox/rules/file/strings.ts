import { RuleSyntaxError } from './problem.ts';
import type { Offset } from './problem.ts';

const opening = /(r?)('''|"""|'|")/y;
const prefixed = /[A-Za-z]{1,2}['"]/y;

/** Whether a string stands there, also one with a prefix that is not for rules. */
export function stringStart(text: string, at: Offset): boolean {
  opening.lastIndex = at;
  prefixed.lastIndex = at;
  return opening.test(text) || prefixed.test(text);
}

/** The value of the string there and where it ends; throws a {@link RuleSyntaxError}. */
export function readString(text: string, at: Offset): { readonly value: string; readonly end: Offset } {
  opening.lastIndex = at;
  const [start, raw, quote] = opening.exec(text) ?? [];
  if (start === undefined || quote === undefined) {
    throw new RuleSyntaxError(
      at,
      `the prefix ${text.slice(at).split(/['"]/)[0]}`,
      'a string without or with the prefix r',
    );
  }
  let value = '';
  for (let offset = at + start.length; offset < text.length;) {
    if (text.startsWith(quote, offset)) {
      return { value, end: offset + quote.length };
    }
    const part = raw === 'r' ? readRaw(text, offset) : readEscaped(text, offset);
    if (quote.length === 1 && text[offset] === '\n') {
      break;
    }
    value += part.value;
    offset = part.end;
  }
  throw new RuleSyntaxError(at, 'a string without an end', `${quote} at its end`);
}

interface Part {
  readonly value: string;
  readonly end: Offset;
}

function readRaw(text: string, offset: Offset): Part {
  const next = text[offset + 1];
  if (text[offset] !== '\\' || next === undefined) {
    return readPlain(text, offset);
  }
  return { value: next === "'" || next === '"' ? next : `\\${next}`, end: offset + 2 };
}

/** Line ends of Windows are line ends. */
function readPlain(text: string, offset: Offset): Part {
  return text.startsWith('\r\n', offset)
    ? { value: '\n', end: offset + 2 }
    : { value: text[offset] ?? '', end: offset + 1 };
}

const simple: Readonly<Record<string, string>> = {
  ...{ n: '\n', r: '\r', t: '\t', a: '\u0007', b: '\b', f: '\f', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '\n': '' },
};
const coded = /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{1,3}))/y;

function readEscaped(text: string, offset: Offset): Part {
  const next = text[offset + 1];
  if (text[offset] !== '\\' || next === undefined) {
    return readPlain(text, offset);
  }
  if (text.startsWith('\r\n', offset + 1)) {
    return { value: '', end: offset + 3 };
  }
  coded.lastIndex = offset;
  const [written, x, u, long, octal] = coded.exec(text) ?? [];
  if (written !== undefined) {
    const code = octal === undefined ? Number.parseInt(x ?? u ?? long ?? '', 16) : Number.parseInt(octal, 8);
    if (code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff)) {
      return { value: String.fromCodePoint(code), end: offset + written.length };
    }
  }
  if (written !== undefined || 'xuU'.includes(next)) {
    const found = written ?? `\\${next}`;
    throw new RuleSyntaxError(offset, found, 'the number of a character: \\x41, \\u0041 or \\U00000041');
  }
  return { value: simple[next] ?? `\\${next}`, end: offset + 2 };
}
