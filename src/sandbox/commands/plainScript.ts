import type { CommandLine, Words } from './commandLine.ts';
import { opaque } from './opaqueReason.ts';
import type { OpaqueReason } from './opaqueReason.ts';
import type { ShellDialect } from './shellScript.ts';
import { reservedWords, stateChangers } from './shellWords.ts';

/** Longer scripts are opaque, because reading them would keep the editor waiting. */
const maxLength = 65_536;

/** Control characters, and what looks like nothing or like a blank and is not read as such. */
const strangeCharacters = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}]--[\t\n ]]/v;

/**
 * Reads a script that is nothing but plain commands: only what bash, dash and zsh certainly read the same way, in
 * every locale and with every option that a person may have set; everything else is opaque.
 */
export function readPlainScript(script: string, dialect: ShellDialect): CommandLine {
  if (script.length > maxLength) {
    return opaque('too-long');
  }
  if (strangeCharacters.test(script)) {
    return opaque('characters');
  }
  // `bash -c -x` takes the script for an option.
  if (/^[-+]/.test(script)) {
    return opaque('syntax');
  }
  try {
    return new PlainScript(script, dialect).read();
  } catch (error) {
    if (error instanceof NotPlain) {
      return opaque(error.reason);
    }
    throw error;
  }
}

class NotPlain extends Error {
  readonly reason: OpaqueReason;

  constructor(reason: OpaqueReason) {
    super(reason);
    this.reason = reason;
  }
}

/** What ends a word. */
const wordEnds = new Set([undefined, ' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);

class PlainScript {
  readonly #script: string;
  readonly #isZsh: boolean;
  #at = 0;

  constructor(script: string, dialect: ShellDialect) {
    this.#script = script;
    this.#isZsh = dialect === 'zsh';
  }

  read(): CommandLine {
    const commands: Words[] = [];
    this.#skipLines();
    while (this.#peek() !== undefined) {
      const words = this.#readWords();
      if (this.#startsWith('<<') && !this.#startsWith('<<<') && commands.length === 0) {
        this.#readHereDocument();
        return { kind: 'hereDocument', command: words };
      }
      commands.push(words);
      const joins = this.#readOperator();
      this.#skipLines();
      if (joins && this.#peek() === undefined) {
        throw new NotPlain('syntax');
      }
    }
    return commands.length > 0 ? { kind: 'commands', commands } : opaque('empty');
  }

  #peek(ahead = 0): string | undefined {
    return this.#script[this.#at + ahead];
  }

  #startsWith(text: string): boolean {
    return this.#script.startsWith(text, this.#at);
  }

  /** The text that matches here, which is then behind. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#script)?.[0] ?? '';
    this.#at += text.length;
    return text;
  }

  /** Blanks and continued lines. A line is only certainly continued behind a blank. */
  #skipBlanks(): void {
    const isContinued = this.#take(/(?:[ \t]+(?:\\\n)?)*/y).endsWith('\n');
    if (isContinued && this.#peek() === '#') {
      throw new NotPlain('quoting');
    }
  }

  /** Everything that may stand before a command. */
  #skipLines(): void {
    do {
      this.#skipBlanks();
      this.#skipComment();
    } while (this.#take(/\n/y) !== '');
  }

  #skipComment(): void {
    this.#take(/#[^\n]*/y);
  }

  #readWords(): Words {
    const words: string[] = [];
    while (!wordEnds.has(this.#peek())) {
      const word = this.#readWord(words.length === 0);
      if (words.length === 0 && reservedWords.has(word)) {
        throw new NotPlain('keyword');
      }
      words.push(word);
      this.#skipBlanks();
      this.#skipComment();
    }
    const [name = ''] = words;
    if (name === '') {
      throw new NotPlain(this.#peek() === '(' || this.#peek() === ')' ? 'grouping' : 'syntax');
    }
    const [called = ''] =
      name === 'command' || name === 'builtin' ? words.filter((word) => stateChangers.has(word)) : words;
    if (stateChangers.has(called) && !isPlainPrintf(words)) {
      throw new NotPlain('shell-state');
    }
    return words;
  }

  /** Whether another command has to follow. */
  #readOperator(): boolean {
    switch (this.#take(/&&?|\|[|&]?|;|\n|<<(?!<)|[<>]\(?|[()]/y)) {
      case '':
      case '\n':
        return false;
      case ';':
        if (/[;&|]/.test(this.#peek() ?? '')) {
          throw new NotPlain('syntax');
        }
        return false;
      case '&&':
      case '||':
      case '|':
        return true;
      case '&':
        throw new NotPlain(this.#peek() === '>' ? 'redirection' : 'background');
      case '<<':
        throw new NotPlain('here-document');
      case '<(':
      case '>(':
        throw new NotPlain('substitution');
      case '(':
      case ')':
        throw new NotPlain('grouping');
      default:
        throw new NotPlain('redirection');
    }
  }

  #readWord(isName: boolean): string {
    const start = this.#at;
    let word = '';
    while (!wordEnds.has(this.#peek())) {
      word += this.#readPart(isName, start);
    }
    return word;
  }

  #readPart(isName: boolean, start: number): string {
    const isFirst = this.#at === start;
    const before = isFirst ? '' : (this.#peek(-1) ?? '');
    const character = this.#take(/[^]/uy);
    switch (character) {
      case "'":
        // With RC_QUOTES, zsh reads two of them as one.
        if (this.#isZsh && before === "'") {
          throw new NotPlain('quoting');
        }
        return this.#readUntilQuote();
      case '"':
        return this.#readDoubleQuoted();
      case '\\':
        return this.#readEscaped();
      case '$':
        throw new NotPlain(
          this.#peek() === '(' ? 'substitution' : /['"]/.test(this.#peek() ?? '') ? 'quoting' : 'expansion',
        );
      case '`':
        throw new NotPlain('substitution');
      case '*':
      case '?':
        throw new NotPlain('glob');
      case '[':
        throw new NotPlain(isName && isFirst ? 'keyword' : 'glob');
      case '{':
        if (!this.#isZsh && !isName && this.#peek() === '}') {
          this.#at += 1;
          return '{}';
        }
        throw new NotPlain(isName ? 'keyword' : 'braces');
      case '}':
        throw new NotPlain(isName ? 'keyword' : 'braces');
      case '~':
        if (!this.#isZsh && /[\w.^~-]/.test(before)) {
          return character;
        }
        throw new NotPlain('tilde');
      case '=':
        if (isName) {
          throw new NotPlain('assignment');
        }
        // zsh replaces `=name` with the path of the program, also behind `""`.
        if (this.#isZsh && !/[\w.-]/.test(before)) {
          throw new NotPlain('tilde');
        }
        return character;
      case '#':
      case '^':
        if (this.#isZsh) {
          throw new NotPlain('glob');
        }
        return character;
      case '!':
      case '%':
        if (isName && isFirst) {
          throw new NotPlain('keyword');
        }
        return character;
      default:
        if (!/[\w.\/:,@+\]-]/.test(character)) {
          throw new NotPlain('characters');
        }
        return character;
    }
  }

  #readUntilQuote(): string {
    const end = this.#script.indexOf("'", this.#at);
    if (end === -1) {
      throw new NotPlain('syntax');
    }
    const text = this.#script.slice(this.#at, end);
    this.#at = end + 1;
    return text;
  }

  #readDoubleQuoted(): string {
    let text = '';
    for (;;) {
      text += this.#take(/[^"\\$`]*/y);
      switch (this.#take(/[^]/y)) {
        case '"':
          return text;
        case '\\': {
          if (this.#peek() === '\n') {
            throw new NotPlain('quoting');
          }
          text += this.#take(/["\\$`]/y) || '\\';
          break;
        }
        case '$':
          throw new NotPlain(this.#peek() === '(' ? 'substitution' : 'expansion');
        case '`':
          throw new NotPlain('substitution');
        default:
          throw new NotPlain('syntax');
      }
    }
  }

  #readEscaped(): string {
    const character = this.#take(/[^]/uy);
    if (character === '') {
      throw new NotPlain('syntax');
    }
    if (character === '\n') {
      throw new NotPlain('quoting');
    }
    if (!/[\t -~]/.test(character)) {
      throw new NotPlain('characters');
    }
    return character;
  }

  /** `<<END`, with nothing else on its line, a body in which nothing is expanded, and nothing behind it. */
  #readHereDocument(): void {
    // A digit would be the number of the descriptor that is fed.
    if (/\d/.test(this.#peek(-1) ?? '')) {
      throw new NotPlain('redirection');
    }
    const rest = this.#script.slice(this.#at);
    const opening = /^<<(-?)[ \t]*(?:'(\w+)'|"(\w+)"|(\w+))[ \t]*\n/.exec(rest);
    if (opening === null) {
      throw new NotPlain('here-document');
    }
    const [line, tabs, inSingle, inDouble, bare] = opening;
    const name = inSingle ?? inDouble ?? bare ?? '';
    const lines = rest.slice(line.length).split('\n');
    const end = lines.findIndex((text) => (tabs === '-' ? text.replace(/^\t+/, '') : text) === name);
    const isExpanded = bare !== undefined && lines.slice(0, end).some((text) => /[$`\\]/.test(text));
    if (end === -1 || isExpanded || lines.slice(end + 1).some((text) => text.trim() !== '')) {
      throw new NotPlain('here-document');
    }
  }
}

/** `printf` may set a variable, but only with an option. */
function isPlainPrintf([name, format = '']: Words): boolean {
  return name === 'printf' && !format.startsWith('-');
}
