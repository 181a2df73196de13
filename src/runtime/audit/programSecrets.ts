import type { CommandText, Range } from './commandText.ts';

interface ProgramRule {
  readonly program: RegExp;
  /** What the program must be told, too. */
  readonly action?: RegExp;
  /** Ends where the secret begins. */
  readonly option: RegExp;
  /** The secret is what follows the first of these in the word. */
  readonly behind?: RegExp;
}

const account = /[:%]/;

/** Options that mean a password with some programs only. */
const rules: readonly ProgramRule[] = [
  { program: /\bsshpass\b/, option: /(?<!\S)["']?-p\s*/g },
  { program: /\b(?:mysql|mariadb)[\w-]*/, option: /(?<!\S)["']?-p(?=\S)/g },
  {
    program: /\b(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|oc|az|cf)\b/,
    action: /\blogin\b/,
    option: /(?<!\S)["']?-p\s*/g,
  },
  { program: /\bmongo\w*/, option: /(?<!\S)["']?-p\s*/g },
  { program: /\b(?:7z[ar]?|rar|unrar)\b/, option: /(?<!\S)["']?-p(?=\S)/g },
  { program: /\b(?:un)?zip\b/, option: /(?<!\S)["']?-P\s*/g },
  { program: /\bredis-cli\b/, option: /(?<!\S)["']?-a\s*/g },
  { program: /\bldap\w+/, option: /(?<!\S)["']?-w\s*/g },
  { program: /\b(?:sqlcmd|bcp|ipmitool)\b/, option: /(?<!\S)["']?-P\s*/g },
  { program: /\bssh-keygen\b/, option: /(?<!\S)["']?-[NP]\s*/g },
  { program: /\buser(?:add|mod)\b/, option: /(?<!\S)["']?-p\s*/g },
  { program: /\bopenssl\b/, option: /(?<!\w)pass:/g },
  { program: /\bopenssl\b/, option: /(?<!\S)["']?-[kK]\s+/g },
  {
    program: /\bcurl\b/,
    option: /(?<!\S)["']?(?:-[a-zA-Z]*[uU]|--user|--proxy-user)[\s=]*/g,
    behind: account,
  },
  { program: /\bcurl\b/, option: /(?<!\S)["']?-b\s*/g },
  { program: /\bhttps?\b(?!:)/, option: /(?<!\S)["']?(?:-a|--auth)[\s=]*/g, behind: account },
  { program: /\b(?:smbclient|rpcclient|net)\b/, option: /(?<!\S)["']?-U\s*/g, behind: account },
];

/** Programs that read a password from their input. */
const readsPassword = /-stdin\b|--with-token\b|\bchpasswd\b|\bpasswd\b|\bsudo(?:\s+-\w+)*\s+-\w*S\b/;

/** Most command lines have none of them. */
const anyProgram = new RegExp(
  [...rules.map(({ program }) => program), readsPassword].map(({ source }) => source).join('|'),
);

/** What is secret because of the program that gets it. */
export function programSecrets(command: CommandText): readonly Range[] {
  if (!anyProgram.test(command.text)) {
    return [];
  }
  const segments = command.segments();
  const found: Range[] = [];
  let covered = 0;
  for (const [index, segment] of segments.entries()) {
    const text = command.text.slice(...segment);
    if (segment[0] < covered) {
      continue; // a line of a here-document that is secret as a whole
    }
    found.push(...rules.flatMap((rule) => ofRule(rule, command, segment, text)));
    if (readsPassword.test(text)) {
      const input = hereInput(command, segment);
      found.push(...pipedInto(command, segments[index - 1]), ...input);
      covered = input[0]?.[1] ?? 0;
    }
  }
  return found;
}

function ofRule(
  { program, action, option, behind }: ProgramRule,
  command: CommandText,
  [start]: Range,
  text: string,
): readonly Range[] {
  const match = program.exec(text);
  if (match === null || action?.test(text) === false) {
    return [];
  }
  const from = match.index + match[0].length;
  return [...text.slice(from).matchAll(option)].map(({ 0: all, index }) => {
    const [first, end] = command.wordAt(start + from + index + all.length);
    const at = behind === undefined ? 0 : command.text.slice(first, end).search(behind);
    return at < 0 ? [end, end] : [first + (behind === undefined ? 0 : at + 1), end];
  });
}

/** `echo … | x` */
function pipedInto({ text }: CommandText, before: Range | undefined): readonly Range[] {
  if (before === undefined || text[before[1]] !== '|') {
    return [];
  }
  const echo = /\b(?:echo|printf)\s+/.exec(text.slice(...before));
  return echo === null ? [] : [[before[0] + echo.index + echo[0].length, before[1]]];
}

/** `x <<< …` and `x << END` */
function hereInput(command: CommandText, [start, end]: Range): readonly Range[] {
  const here = /<<(<|-)?\s*/.exec(command.text.slice(start, end));
  if (here === null) {
    return [];
  }
  const word = command.wordAt(start + here.index + here[0].length);
  return [here[1] === '<' ? word : hereDocument(command.text, word)];
}

function hereDocument(text: string, word: Range): Range {
  const start = text.indexOf('\n', word[1]);
  const delimiter = text.slice(...word).replaceAll(/\W/g, '');
  const last = new RegExp(`\\n[^\\S\\n]*${delimiter}$`, 'gm');
  last.lastIndex = start;
  return start < 0 ? word : [start + 1, last.exec(text)?.index ?? text.length];
}
