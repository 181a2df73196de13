import { RuleSyntaxError } from './problem.ts';
import type { Offset } from './problem.ts';
import { readString, stringStart } from './strings.ts';

/**
 * A word of the language. `newline` ends a statement; inside brackets there is none. What the language does not know
 * is a token, too, so that whoever expected something else can say so.
 */
export type Token =
  | { readonly kind: 'string'; readonly value: string; readonly at: Offset }
  | { readonly kind: 'name' | 'unknown'; readonly value: string; readonly at: Offset }
  | { readonly kind: 'broken'; readonly error: RuleSyntaxError; readonly at: Offset }
  | { readonly kind: Symbol | 'newline' | 'end'; readonly at: Offset };

type Symbol = (typeof symbols)[number];
const symbols = ['(', ')', '[', ']', ',', '=', '+', ';'] as const;

const blank = /[ \r]*(?:#[^\n]*)?/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const unknown = /[A-Za-z0-9_.]+|[^]/uy;

/** The tokens of a text, the last of them `end` or the first one that is broken. */
export function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  for (let offset = 0; ;) {
    const isLineStart = offset === 0 || text[offset - 1] === '\n';
    const at = offset + matchAt(blank, text, offset).length;
    if (at === text.length) {
      return [...tokens, ...(depth === 0 ? [{ kind: 'newline', at } as const] : []), { kind: 'end', at }];
    }
    if (text[at] === '\n') {
      if (depth === 0) {
        tokens.push({ kind: 'newline', at });
      }
      offset = at + 1;
      continue;
    }
    if (isLineStart && at > offset && depth === 0) {
      tokens.push({ kind: 'unknown', value: 'an indented line', at });
    }
    try {
      const { token, end } = readToken(text, at);
      tokens.push(token);
      depth = Math.max(0, depth + depthOf(token));
      offset = end;
    } catch (error) {
      if (!(error instanceof RuleSyntaxError)) {
        throw error;
      }
      return [...tokens, { kind: 'broken', error, at }];
    }
  }
}

function readToken(text: string, at: Offset): { readonly token: Token; readonly end: Offset } {
  const symbol = symbols.find((one) => one === text[at]);
  if (symbol !== undefined) {
    return { token: { kind: symbol, at }, end: at + 1 };
  }
  if (stringStart(text, at)) {
    const { value, end } = readString(text, at);
    return { token: { kind: 'string', value, at }, end };
  }
  const word = matchAt(name, text, at);
  if (word !== '') {
    return { token: { kind: 'name', value: word, at }, end: at + word.length };
  }
  const value = matchAt(unknown, text, at);
  return {
    token: { kind: 'unknown', value: value === '\t' ? 'a tab' : JSON.stringify(value), at },
    end: at + value.length,
  };
}

function depthOf({ kind }: Token): number {
  return kind === '(' || kind === '[' ? 1 : kind === ')' || kind === ']' ? -1 : 0;
}

function matchAt(pattern: RegExp, text: string, at: Offset): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
