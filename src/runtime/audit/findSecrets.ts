import type { CommandText, Range } from './commandText.ts';
import { programSecrets } from './programSecrets.ts';
import { isSecretName } from './secretNames.ts';
import { secretShapes } from './secretShapes.ts';

/**
 * Where a text holds what looks like a secret: by what it is called, by where it stands, by its looks. The parts may
 * overlap. Takes time in proportion to the length of the text, whatever is in it.
 */
export function findSecrets(command: CommandText): readonly Range[] {
  return finders.flatMap((find) => find(command)).filter(([start, end]) => end > start);
}

type Finder = (command: CommandText) => readonly Range[];
type Read = (command: CommandText, at: number) => Range;

/** `X_TOKEN=…`, `--api-key=…`, `token = …`. */
const assignments: Finder = (command) =>
  named(command, /(?<![\w.-])-{0,2}(?<name>[A-Za-z_][\w.-]*)(?:\\*["'])?(?:\+?=|[^\S\n]:?=[^\S\n]+)/g, value);

/** `"password": "…"`, `password: …` and headers, whose values may have several words. */
const fields: Finder = (command) => [
  ...named(command, /(?<![\w.-])(?<name>[A-Za-z_][\w.-]*)\\*["']\s*:\s*/g, value),
  ...named(command, /(?<![\w.-])(?<name>[A-Za-z_][\w.-]*):[^\S\n]+/g, valueOrLine),
  ...named(command, /(?<![\w.-])(?<name>[A-Za-z]+(?:-[A-Za-z0-9]+)+):/g, valueOrQuoted),
];

/** `--password …`; what follows is no option itself. */
const options: Finder = (command) =>
  named(command, /(?<![\w.-])--?(?<name>[A-Za-z][\w-]*)["']?(?:[^\S\n]|\\\n)+(?!["']?-)/g, value);

/** `npm config set //registry/:_authToken …`, `setenv X_TOKEN …`, `set -gx X_TOKEN …`. */
const settings: Finder = (command) =>
  named(
    command,
    /(?<![\w-])(?:set|setenv|config|configure)\s+(?:set\s+)?(?:-[\w=-]*\s+)*(?:[^\s"'=]*[/:.])?(?<name>[A-Za-z_][\w-]*)["']?\s+/g,
    value,
  );

const headers: Finder = (command) => [
  ...starts(
    command,
    /(?<!\w)(?:proxy-)?authorization\\*["']?\s*[:=]\s*(?:\\*["'])?(?:\\?\s*(?:basic|bearer|token|digest|negotiate|apikey|bot|aws4-hmac-sha256)(?:\\?\s)+)?/gi,
    valueOrQuoted,
  ),
  ...starts(command, /(?<!\w)(?:set-)?cookie\\*["']?\s*:\s*(?:\\*["'])?/gi, valueOrQuoted),
  ...starts(command, /(?<!\w)bearer\s+(?=[\w.~+/=-]{12})/gi, value),
];

/** `https://user:password@host`, `https://TOKEN@host`. */
const urls: Finder = ({ text }) =>
  [...text.matchAll(/:\/\/([^\s/?#"'`@:]*)(?::([^\s/?#"'`]*))?@/g)].flatMap(
    ({ 0: all, 1: user = '', 2: password, index }): readonly Range[] => {
      const end = index + all.length - 1;
      if (password !== undefined) {
        return isReference(password) ? [] : [[end - password.length, end]];
      }
      return user.length >= 16 && !isReference(user) ? [[end - user.length, end]] : [];
    },
  );

/** `?key=…&signature=…`. */
const queries: Finder = ({ text }) =>
  [...text.matchAll(/[?&]([\w.-]+)=([^\s&#"'`;|]+)/g)].flatMap(
    ({ 0: all, 1: name = '', 2: content = '', index }): readonly Range[] => {
      const isSecret =
        isSecretName(name) ||
        /^(?:key|sig|signature|code|auth|x-amz-credential|x-amz-signature)$/i.test(name);
      return isSecret && !isReference(content)
        ? [[index + all.length - content.length, index + all.length]]
        : [];
    },
  );

const netrc: Finder = (command) =>
  starts(command, /\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+/g, value);

const shapes: Finder = ({ text }) =>
  secretShapes.flatMap((shape) =>
    [...text.matchAll(shape)].map(({ 0: all, index }) => [index, index + all.length] as const),
  );

const finders: readonly Finder[] = [
  ...[assignments, fields, options, settings, headers, urls, queries, netrc, shapes],
  programSecrets,
];

/** What stands behind each match whose `name` is one of a secret. */
function named(command: CommandText, pattern: RegExp, read: Read): readonly Range[] {
  return starts(command, pattern, read, (name) => isSecretName(name));
}

function starts(
  command: CommandText,
  pattern: RegExp,
  read: Read,
  isMeant: (name: string) => boolean = () => true,
): readonly Range[] {
  const found: Range[] = [];
  let covered = 0;
  for (const { 0: all, index, groups } of command.text.matchAll(pattern)) {
    const at = index + all.length;
    // What lies in a secret is not read again: names in a row would take quadratic time.
    if (at >= covered && isMeant(groups?.['name'] ?? '')) {
      const range = read(command, at);
      covered = range[1];
      found.push(range);
    }
  }
  return found;
}

/** The word, unless it only says where the secret comes from. */
function value(command: CommandText, at: number): Range {
  const [start, end] = command.wordAt(at);
  return isReference(command.text.slice(start, end)) ? [start, start] : [start, end];
}

function valueOrLine(command: CommandText, at: number): Range {
  return command.isBare || /["'\\]/.test(command.text[at] ?? '')
    ? value(command, at)
    : upTo(/\\*["'\n`;|&]/g, command, at);
}

/** Inside of quotes everything up to their end. */
function valueOrQuoted(command: CommandText, at: number): Range {
  switch (command.quoteAt(at)) {
    case "'":
      return upTo(/['\n]/g, command, at);
    case '"':
      return upTo(/\\*"|\n/g, command, at);
    case undefined:
      return value(command, at);
  }
}

function upTo(pattern: RegExp, { text }: CommandText, at: number): Range {
  pattern.lastIndex = at;
  const end = pattern.exec(text)?.index ?? text.length;
  return isReference(text.slice(at, end)) ? [at, at] : [at, end];
}

/** `$X`, `${X}`, `$(…`: what a shell puts in is not in the text. */
function isReference(text: string): boolean {
  return /^["']?\$(?:\w+|\{\w+\}|\([^)]*\)?|)["']?$/.test(text.trim());
}
