/** The words of a line as a shell splits them, without expansions; undefined when a quote has no end. */
export function splitLine(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let offset = 0; offset < line.length;) {
    const rest = line.slice(offset);
    const comment = word === undefined ? /^#[^\n]*/.exec(rest)?.[0] : undefined;
    const part = /^[ \t\n]+/.exec(rest)?.[0] ?? comment;
    if (part !== undefined) {
      words.push(...(word === undefined ? [] : [word]));
      word = undefined;
      offset += part.length;
      continue;
    }
    const [written, single, double, escaped] =
      /^(?:'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|[^'"\\ \t\n]+)/.exec(rest) ?? [];
    if (written === undefined) {
      return undefined;
    }
    word = (word ?? '') + (single ?? unescape(double) ?? continued(escaped) ?? written);
    offset += written.length;
  }
  return word === undefined ? words : [...words, word];
}

function unescape(quoted: string | undefined): string | undefined {
  return quoted?.replaceAll(/\\([$`"\\\n])/g, (_, character: string) => continued(character) ?? '');
}

/** A backslash at the end of a line joins it with the next. */
function continued(escaped: string | undefined): string | undefined {
  return escaped === '\n' ? '' : escaped;
}
