import { RuleSyntaxError } from './problem.ts';
import type { Offset } from './problem.ts';
import { readTokens } from './tokens.ts';
import type { Token } from './tokens.ts';
import { concatenate, describeValue } from './values.ts';
import type { Value } from './values.ts';

/** A call of one of the functions, with its arguments computed. */
export interface Call {
  readonly function: string;
  readonly at: Offset;
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, { readonly value: Value; readonly at: Offset }>;
}

/** Words that Starlark keeps for itself. */
const reserved: ReadonlySet<string> = new Set(
  (
    'and as assert async await break class continue def del elif else except finally for from global if import in ' +
    'is lambda load nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** Lists in lists in lists: nobody needs more, and the reader calls itself for each. */
const maxDepth = 50;

/**
 * Runs a text: assignments of strings and lists, `+`, and calls of `functions`, in the order in which they stand.
 * That is the part of Starlark that rules need; throws a {@link RuleSyntaxError} for everything else.
 */
export function readCalls(text: string, functions: readonly string[]): readonly Call[] {
  return new Reader(readTokens(text), functions).statements();
}

class Reader {
  readonly #tokens: readonly Token[];
  readonly #functions: readonly string[];
  readonly #variables = new Map<string, Value>();
  #index = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], functions: readonly string[]) {
    this.#tokens = tokens;
    this.#functions = functions;
  }

  statements(): readonly Call[] {
    const calls: Call[] = [];
    while (!this.#accept('end')) {
      if (this.#accept('newline')) {
        continue;
      }
      do {
        calls.push(...this.#statement());
      } while (this.#accept(';') && this.#token.kind !== 'newline');
      this.#expect('newline', 'the end of the line');
    }
    return calls;
  }

  #statement(): readonly Call[] {
    const token = this.#token;
    const next = this.#tokens[this.#index + 1]?.kind;
    if (token.kind === 'name' && next === '(') {
      return [this.#call(token.value, token.at)];
    }
    if (token.kind === 'name' && next === '=') {
      this.#assign(token.value, token.at);
    } else if (token.kind === 'name' && reserved.has(token.value)) {
      throw unexpected(
        token,
        `an assignment or a call of ${this.#functions.join(', ')}: rules know no other statement`,
      );
    } else {
      // A text alone is a comment to some.
      this.#expression();
    }
    return [];
  }

  #assign(name: string, at: Offset): void {
    if (reserved.has(name) || this.#functions.includes(name)) {
      throw new RuleSyntaxError(at, `an assignment to ${name}`, 'a name that has no meaning of its own');
    }
    this.#index += 2;
    this.#variables.set(name, this.#expression());
  }

  #call(name: string, at: Offset): Call {
    if (!this.#functions.includes(name)) {
      throw new RuleSyntaxError(at, `a call of ${name}`, `one of ${this.#functions.join(', ')}`);
    }
    this.#index += 2;
    const positional: Value[] = [];
    const named = new Map<string, { readonly value: Value; readonly at: Offset }>();
    while (!this.#accept(')')) {
      const token = this.#token;
      if (token.kind === 'name' && this.#tokens[this.#index + 1]?.kind === '=') {
        if (named.has(token.value)) {
          throw new RuleSyntaxError(token.at, `${token.value} once more`, 'each argument once');
        }
        this.#index += 2;
        named.set(token.value, { value: this.#expression(), at: token.at });
      } else {
        if (named.size > 0) {
          throw unexpected(token, 'name = value, as before it');
        }
        positional.push(this.#expression());
      }
      this.#separate(')');
    }
    return { function: name, at, positional, named };
  }

  #expression(): Value {
    let value = this.#operand();
    while (this.#accept('+')) {
      value = concatenate(value, this.#operand());
    }
    return value;
  }

  #operand(): Value {
    const token = this.#token;
    this.#depth += 1;
    if (this.#depth > maxDepth) {
      throw new RuleSyntaxError(token.at, `brackets ${this.#depth} deep`, `at most ${maxDepth}`);
    }
    const value = this.#operandAt(token);
    this.#depth -= 1;
    return value;
  }

  #operandAt(token: Token): Value {
    if (token.kind === 'string') {
      this.#index += 1;
      return token;
    }
    if (token.kind === 'name') {
      return this.#variable(token.value, token.at);
    }
    if (this.#accept('(')) {
      const value = this.#expression();
      this.#expect(')', '")" (there are lists, but no tuples)');
      return { ...value, at: token.at };
    }
    if (this.#accept('[')) {
      const items: Value[] = [];
      while (!this.#accept(']')) {
        items.push(this.#expression());
        this.#separate(']');
      }
      return { kind: 'list', items, at: token.at };
    }
    throw unexpected(token, 'a string, a list or a name');
  }

  #variable(name: string, at: Offset): Value {
    const value = this.#variables.get(name);
    if (value === undefined) {
      throw new RuleSyntaxError(at, name, 'a string, a list or a name that was given a value before');
    }
    this.#index += 1;
    return { ...value, at };
  }

  /** After an element: a comma, or the closing bracket, which stays. */
  #separate(close: ')' | ']'): void {
    if (this.#token.kind !== close) {
      this.#expect(',', `"," or "${close}"`);
    }
  }

  get #token(): Token {
    return this.#tokens[this.#index] as Token;
  }

  #accept(kind: Token['kind']): boolean {
    const isThere = this.#token.kind === kind;
    this.#index += isThere ? 1 : 0;
    return isThere;
  }

  #expect(kind: Token['kind'], words: string): void {
    const token = this.#token;
    if (!this.#accept(kind)) {
      throw unexpected(token, words);
    }
  }
}

function unexpected(token: Token, expected: string): RuleSyntaxError {
  return token.kind === 'broken'
    ? token.error
    : new RuleSyntaxError(token.at, describeToken(token), expected);
}

const endings = { newline: 'the end of the line', end: 'the end of the file' };

function describeToken(token: Exclude<Token, { readonly kind: 'broken' }>): string {
  if (token.kind === 'newline' || token.kind === 'end') {
    return endings[token.kind];
  }
  if (token.kind === 'string') {
    return describeValue(token);
  }
  return token.kind === 'name' || token.kind === 'unknown' ? token.value : JSON.stringify(token.kind);
}
