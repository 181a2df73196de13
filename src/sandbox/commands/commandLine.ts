import type { BashParser } from './bashParser.ts';
import type { SeenScript } from './literalCommands.ts';
import { seeScript } from './literalCommands.ts';
import type { Opaque } from './opaqueReason.ts';
import { opaque } from './opaqueReason.ts';
import { readPlainScript } from './plainScript.ts';
import { dialectOf, isOfTheSystem, shellScript } from './shellScript.ts';
import { readWindowsShell } from './windowsShell.ts';
import { asScript, commandsInside } from './wrappers.ts';

/** The words of one command as the program gets them: quotes removed, the name first. */
export type Words = readonly string[];

/** What a command line certainly is. */
export type CommandLine =
  /** Plain commands, joined by `&&`, `||`, `;`, new lines and `|`; at least one. */
  | { readonly kind: 'commands'; readonly commands: readonly Words[] }
  /** One plain command that is fed by a here-document in which nothing is expanded. */
  | { readonly kind: 'hereDocument'; readonly command: Words }
  | Opaque;

export interface ReadCommand {
  readonly line: CommandLine;
  /**
   * The looser reading: every command with a literal name anywhere (conditions, loops, substitutions, beside
   * redirections), also what wrappers like `sudo` run. Words with expansions stand as they are written.
   */
  readonly anywhere: readonly Words[];
  /** Whose names the words are: `ls` of PowerShell is another program than that of other shells. */
  readonly language: 'shell' | 'powershell';
}

/** Deep enough for `bash -c` in `bash -c`. */
const maxShells = 3;

/** The same for the looser reading, in which wrappers count, too. */
const maxDepth = 5;

/**
 * Reads an argv as it would be executed. `bash`, `zsh` and `sh` with `-c` or `-lc` and one script are opened, also
 * inside each other, when they are those of the system; so are PowerShell and cmd. Any other argv is one command.
 */
export async function readCommand(argv: readonly string[], parse: BashParser): Promise<ReadCommand> {
  const seen = new Map<string, Promise<SeenScript>>();
  const see: See = (script) => {
    const before = seen.get(script) ?? seeScript(script, parse);
    seen.set(script, before);
    return before;
  };
  const windows = readWindowsShell(argv);
  return {
    line: windows?.line ?? (await readLine(argv, see, maxShells)),
    anywhere: await everyCommand(argv, see, maxDepth),
    language: windows?.language ?? 'shell',
  };
}

/**
 * Reads what a shell is given with `-c`. What a shell would do that is not known is never certain; every one has the
 * words of its commands where others have them, so the looser reading is that of `sh`, too.
 */
export async function readShellCommand(
  shell: string,
  script: string,
  parse: BashParser,
): Promise<ReadCommand> {
  const argv = [shell, '-c', script];
  const read = await readCommand(argv, parse);
  if (readWindowsShell(argv) !== undefined || (isOfTheSystem(shell) && shellScript(argv) !== undefined)) {
    return read;
  }
  const { anywhere } = await readCommand(asScript(script), parse);
  return { ...read, line: opaque('unknown-shell'), anywhere: [...read.anywhere, ...anywhere] };
}

/** The grammar, which looks at every script once. */
type See = (script: string) => Promise<SeenScript>;

async function readLine(argv: Words, see: See, depth: number): Promise<CommandLine> {
  const [shell = ''] = argv;
  const script = isOfTheSystem(shell) ? shellScript(argv) : undefined;
  if (script === undefined) {
    return argv.length === 0 ? opaque('empty') : { kind: 'commands', commands: [argv] };
  }
  if (depth === 0) {
    return opaque('too-deep');
  }
  const line = readPlainScript(script, dialectOf(argv));
  if (line.kind === 'opaque') {
    return line;
  }
  const commands = line.kind === 'commands' ? line.commands : [line.command];
  // Two readings that know nothing of each other have to find the same.
  const { isUnderstood, commands: seen } = await see(script);
  if (!isUnderstood || !isSame(seen, commands)) {
    return opaque('syntax');
  }
  return line.kind === 'commands'
    ? readEach(line.commands, see, depth - 1)
    : shellScript(line.command) === undefined
      ? line
      : opaque('here-document');
}

/** The grammar loses a dash before a here-document, as in `python3 - <<EOF`. */
function isSame(seen: readonly Words[], read: readonly Words[]): boolean {
  const [left, right] = [seen, read].map((commands) =>
    JSON.stringify(commands.map((words) => words.filter((word) => word !== '-'))),
  );
  return left === right;
}

/** Commands, with shells among them opened. */
async function readEach(commands: readonly Words[], see: See, depth: number): Promise<CommandLine> {
  const all: Words[] = [];
  for (const words of commands) {
    const inner = await readLine(words, see, depth);
    if (inner.kind === 'commands') {
      all.push(...inner.commands);
    } else if (inner.kind === 'opaque' || commands.length === 1) {
      return inner;
    } else {
      return opaque('here-document');
    }
  }
  return { kind: 'commands', commands: all };
}

/** A command and everything that is found in it: the script of a shell, what a wrapper runs. */
async function everyCommand(words: Words, see: See, depth: number): Promise<readonly Words[]> {
  const script = shellScript(words);
  const inside =
    script === undefined
      ? (readWindowsShell(words)?.anywhere ?? commandsInside(words))
      : await commandsOf(script, see);
  const own = script === undefined && words.length > 0 ? [words] : [];
  const found =
    depth === 0 ? [] : await Promise.all(inside.map((inner) => everyCommand(inner, see, depth - 1)));
  return [...own, ...found.flat()];
}

async function commandsOf(script: string, see: See): Promise<readonly Words[]> {
  const { commands, scripts } = await see(script);
  return [...commands, ...scripts.map(asScript)];
}
