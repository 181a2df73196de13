import type { Random } from './random.ts';

/** Words of patterns and commands: few, so that they meet. */
const words = ['git', 'hg', 'push', 'status', '-c', 'a b', '', 'ü', "it's", 'x"y', '\\', '#', 'two\nlines'];
const programs = ['git', 'hg', 'tool', '/usr/bin/git', '/opt/git', '/usr/bin/hg'];
const decisions = ['allow', 'prompt', 'forbidden'];

/** A `.rules` file in the language that Cordon reads, and a command that it may be about. */
export interface RandomRules {
  /** Wrong on purpose now and then. */
  readonly text: string;
  readonly command: readonly string[];
}

export function randomRuleFile(random: Random): RandomRules {
  const writer = new RuleFileWriter(random);
  const statements = Array.from({ length: random.integer(1, 5) }, () => writer.statement());
  const text = statements.join(random.pick(['\n', '\n\n', ' ; ', '\r\n', ' # end\n']));
  const known = writer.meetings.length > 0 && random.chance(0.7) ? random.pick(writer.meetings) : undefined;
  return {
    text: text + random.pick(['', '\n', ';\n']),
    command: known === undefined ? randomCommand(random) : [...known, random.pick(words)],
  };
}

function randomCommand(random: Random): readonly string[] {
  const rest = Array.from({ length: random.integer(0, 3) }, () => random.pick(words));
  return [random.pick(programs), ...rest];
}

/** The text with one piece taken out, doubled, or put in. */
export function damage(random: Random, text: string): string {
  const at = random.integer(0, text.length);
  const end = Math.min(text.length, at + random.integer(1, 3));
  const piece = random.chance(0.4)
    ? ''
    : random.chance(0.3)
      ? text.slice(at, end) + text.slice(at, end)
      : random.pick([
          '"',
          "'",
          '(',
          ')',
          '[',
          ']',
          ',',
          '=',
          '+',
          ';',
          '\n',
          ' ',
          '\t',
          '\\',
          '#',
          'r',
          'x',
          '\\q',
          '"""',
        ]);
  return text.slice(0, at) + piece + text.slice(end);
}

class RuleFileWriter {
  readonly #random: Random;
  readonly #variables: string[] = [];
  /** A command that each rule meets. */
  readonly meetings: (readonly string[])[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  statement(): string {
    const kind = this.#random.integer(0, 9);
    if (kind === 0) {
      const name = this.#random.pick(['x', 'y_2', 'pattern', 'Z']);
      const text = `${name} = ${this.#text(this.#random.pick(words))}`;
      this.#variables.push(name);
      return text;
    }
    if (kind === 1) {
      return this.#executable();
    }
    return kind === 2 ? this.#network() : kind === 3 ? this.#text('a text alone') : this.#prefix();
  }

  #prefix(): string {
    const { pattern, meeting } = this.#pattern();
    this.meetings.push(...(meeting.length > 0 ? [meeting] : []));
    const decision = this.#random.chance(0.02) ? 'never' : this.#random.pick(decisions);
    const named = [
      ...(this.#random.chance(0.7) ? [`decision = ${this.#text(decision)}`] : []),
      ...(this.#random.chance(0.2)
        ? [`justification=${this.#text(this.#random.pick(['why', 'so so', 'ü', this.#rare(' ', 'x')]))}`]
        : []),
      ...(this.#random.chance(0.3) ? [`match = ${this.#examples(meeting, 0.95)}`] : []),
      ...(this.#random.chance(0.3) ? [`not_match=${this.#examples(meeting, 0.02)}`] : []),
      ...(this.#random.chance(0.02) ? [`other = ${this.#text('x')}`] : []),
    ];
    return this.#call('prefix_rule', [this.#random.chance(0.5) ? pattern : `pattern = ${pattern}`, ...named]);
  }

  #pattern(): { readonly pattern: string; readonly meeting: readonly string[] } {
    const length = this.#random.chance(0.01) ? 0 : this.#random.integer(1, 3);
    const elements = Array.from({ length }, (_, index) => {
      const from = index === 0 ? programs : words;
      return Array.from({ length: this.#random.pick([1, 1, 1, 2, 3]) }, () => this.#random.pick(from));
    });
    const written = elements.map((one) =>
      one.length === 1 && this.#random.chance(0.8)
        ? this.#text(one[0] ?? '')
        : this.#list(this.#random.chance(0.01) ? [] : one.map((word) => this.#text(word))),
    );
    return { pattern: this.#list(written), meeting: elements.map((one) => this.#random.pick(one)) };
  }

  #examples(meeting: readonly string[], meets: number): string {
    const examples = Array.from({ length: this.#random.integer(0, 2) }, () => {
      const command = this.#random.chance(meets) ? [...meeting, 'more'] : randomCommand(this.#random);
      return this.#random.chance(0.5)
        ? this.#list(command.map((word) => this.#text(word)))
        : this.#text(this.#line(command));
    });
    return this.#list(examples);
  }

  /** A line that a shell would split into the words, or nearly. */
  #line(command: readonly string[]): string {
    const quoted = command.map((word) => {
      const style = this.#random.integer(0, 12) % 4;
      if (style === 0 && this.#random.chance(0.1)) {
        return word;
      }
      if (style === 1) {
        return `"${word.replace(/["\\$`]/g, '\\$&')}"`;
      }
      return style === 2 ? `'${word.replaceAll("'", "'\\''")}'` : word.replace(/[^\w/-]/g, '\\$&');
    });
    return quoted.join(this.#random.pick([' ', '  ', '\t', ' \n']));
  }

  #executable(): string {
    const name = this.#random.pick(['git', 'hg', '', 'a/b', '..']);
    const paths = [
      '/usr/bin/git',
      '/opt/git',
      '/usr/./bin//git',
      '/usr/lib/../bin/git',
      'git',
      '/usr/bin/hg',
      '/',
    ];
    const listed = Array.from({ length: this.#random.integer(0, 2) }, () =>
      this.#text(this.#random.pick(paths)),
    );
    return this.#call('host_executable', [`name=${this.#text(name)}`, `paths = ${this.#list(listed)}`]);
  }

  #network(): string {
    const right = ['example.org', ' A.b. ', 'h:443', '[::1]', '[::1]:80', '::1', 'h:x', ':1', 'Ü.example'];
    const wrong = ['*.x', 'a/b', '', 'a b', '[x', '[::1]x', 'https://x', 'x?', 'x#', '.', '[]'];
    const host = this.#rare(this.#random.pick(wrong), this.#random.pick(right));
    const protocol = this.#random.pick([
      'http',
      'https',
      'https_connect',
      'http-connect',
      'socks5_tcp',
      'ftp',
    ]);
    return this.#call('network_rule', [
      this.#text(host),
      this.#text(protocol),
      this.#text(this.#random.pick([...decisions, 'deny', this.#rare('x', 'deny')])),
    ]);
  }

  #rare(wrong: string, right: string): string {
    return this.#random.chance(0.1) ? wrong : right;
  }

  #call(name: string, args: readonly string[]): string {
    const comma = this.#random.pick([', ', ',', ',\n  ', ' ,# and\n']);
    return `${name}${this.#random.pick(['', ' '])}(${args.join(comma)}${this.#random.pick(['', '', ',', '\n', ',\n'])})`;
  }

  #list(items: readonly string[]): string {
    if (items.length > 1 && this.#random.chance(0.1)) {
      const at = this.#random.integer(0, items.length);
      return `[${items.slice(0, at).join(',')}] + [${items.slice(at).join(', ')}]`;
    }
    const end = items.length > 0 ? this.#random.pick(['', '', ',', ',\n']) : '';
    return `[${items.join(this.#random.pick([', ', ',', ',\n']))}${end}]`;
  }

  /** The same text in one of the many ways to write it; now and then a variable that may not be there. */
  #text(value: string): string {
    if (this.#random.chance(0.05) && (this.#variables.length > 0 || this.#random.chance(0.03))) {
      return this.#random.pick([...this.#variables, 'x']);
    }
    if (value.length > 1 && this.#random.chance(0.1)) {
      const at = this.#random.integer(1, value.length - 1);
      const sum = `${this.#quoted(value.slice(0, at))} + ${this.#quoted(value.slice(at))}`;
      return this.#random.chance(0.5) ? `(${sum})` : sum;
    }
    return this.#quoted(value);
  }

  #quoted(value: string): string {
    const quote = this.#random.pick(["'", '"', "'''", '"""']);
    if (this.#random.chance(0.2) && !/['"\\\n]/.test(value)) {
      return `r${quote}${value}${quote}`;
    }
    const inside = [...value].map((character) => this.#character(character, quote)).join('');
    return `${quote}${inside}${quote}`;
  }

  #character(character: string, quote: string): string {
    const code = character.codePointAt(0) ?? 0;
    if (this.#random.chance(0.05)) {
      return this.#random.pick([
        `\\x${code.toString(16).padStart(2, '0')}`,
        `\\u${code.toString(16).padStart(4, '0')}`,
        `\\U${code.toString(16).padStart(8, '0')}`,
        `\\${code.toString(8).padStart(3, '0')}`,
      ]);
    }
    if (character === '\n') {
      return quote.length === 3 && this.#random.chance(0.5) ? '\n' : '\\n';
    }
    return /['"\\]/.test(character) ? `\\${character}` : character;
  }
}
