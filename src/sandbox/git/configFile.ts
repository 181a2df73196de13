/** One variable of a git configuration file. */
export interface ConfigEntry {
  /** `section.name` or `section.subsection.name`; section and name in lower case, as git compares them. */
  readonly key: string;
  /** Undefined for a name without `=`, which stands for true. */
  readonly value: string | undefined;
  /** Where its text is in the file: from the name to the end of the last line that belongs to it. */
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the syntax of git-config(1) exactly as git does, because a difference would hide a variable from whoever
 * looks for it. Undefined when git would reject the file.
 */
export function parseGitConfig(text: string): ConfigEntry[] | undefined {
  const reader = new Reader(text);
  return reader.readAll() ? reader.entries : undefined;
}

const endOfFile = '';

class Reader {
  readonly entries: ConfigEntry[] = [];
  readonly #text: string;
  #at: number;
  #prefix = '';

  constructor(text: string) {
    this.#text = text;
    this.#at = /^(\uFEFF|\xEF\xBB\xBF)/.exec(text)?.[0].length ?? 0;
  }

  /** False on the first thing that git does not understand. */
  readAll(): boolean {
    for (let char = this.#next(); char !== endOfFile; char = this.#next()) {
      if (isSpace(char)) {
        continue;
      }
      if (char === '#' || char === ';') {
        this.#skipLine();
      } else if (!(char === '[' ? this.#readSection() : this.#readEntry(char))) {
        return false;
      }
    }
    return true;
  }

  /** The end of a line is one character, however it is written. */
  #next(): string {
    const char = this.#text.charAt(this.#at);
    const isPair = char === '\r' && this.#text.charAt(this.#at + 1) === '\n';
    this.#at += isPair ? 2 : char.length;
    return isPair ? '\n' : char;
  }

  #skipLine(): void {
    for (let char = this.#next(); char !== '\n' && char !== endOfFile; char = this.#next());
  }

  #readSection(): boolean {
    let name = '';
    for (let char = this.#next(); char !== ']'; char = this.#next()) {
      if (isSpace(char)) {
        return this.#readSubsection(name, char);
      }
      if (!/^[A-Za-z0-9.-]$/.test(char)) {
        return false;
      }
      name += char.toLowerCase();
    }
    this.#prefix = `${name}.`;
    return name !== '';
  }

  #readSubsection(name: string, space: string): boolean {
    let char = space;
    while (isSpace(char)) {
      if (char === '\n') {
        return false;
      }
      char = this.#next();
    }
    if (char !== '"') {
      return false;
    }
    let subsection = '';
    for (char = this.#next(); char !== '"'; char = this.#next()) {
      const literal = char === '\\' ? this.#next() : char;
      if (literal === '\n' || literal === endOfFile) {
        return false;
      }
      subsection += literal;
    }
    this.#prefix = `${name}.${subsection}.`;
    return this.#next() === ']';
  }

  #readEntry(first: string): boolean {
    const start = this.#at - first.length;
    if (!/^[A-Za-z]$/.test(first)) {
      return false;
    }
    let name = first;
    let char = this.#next();
    for (; /^[A-Za-z0-9-]$/.test(char); char = this.#next()) {
      name += char;
    }
    while (char === ' ' || char === '\t') {
      char = this.#next();
    }
    const isBare = char === '\n' || char === endOfFile;
    if (!isBare && char !== '=') {
      return false;
    }
    const value = isBare ? undefined : this.#readValue();
    if (!isBare && value === undefined) {
      return false;
    }
    const lineEnd = /\r?\n$/.exec(this.#text.slice(start, this.#at))?.[0].length ?? 0;
    const end = this.#at - lineEnd;
    this.entries.push({ key: `${this.#prefix}${name.toLowerCase()}`, value, start, end });
    return true;
  }

  /** Undefined when the value is not well formed. */
  #readValue(): string | undefined {
    let value = '';
    let spaces = '';
    let isQuoted = false;
    for (;;) {
      const char = this.#next();
      if (char === '\n' || char === endOfFile) {
        return isQuoted ? undefined : value;
      }
      if (isSpace(char) && !isQuoted) {
        spaces += value === '' ? '' : char;
        continue;
      }
      if (!isQuoted && (char === '#' || char === ';')) {
        this.#skipLine();
        return value;
      }
      value += spaces;
      spaces = '';
      if (char === '"') {
        isQuoted = !isQuoted;
        continue;
      }
      const literal = char === '\\' ? unescaped(this.#next()) : char;
      if (literal === undefined) {
        return undefined;
      }
      value += literal;
    }
  }
}

/** What stands after a backslash; the end of a line, or of the file, stands for nothing. */
function unescaped(char: string): string | undefined {
  return { [endOfFile]: '', '\n': '', t: '\t', b: '\b', n: '\n', '\\': '\\', '"': '"' }[char];
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r';
}
