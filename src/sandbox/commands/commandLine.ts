import type { BashParser } from './bashParser.ts';
import { commandsOfScript } from './literalCommands.ts';
import type { Opaque } from './opaqueReason.ts';
import { opaque } from './opaqueReason.ts';
import { readPlainScript } from './plainScript.ts';
import { dialectOf, shellScript } from './shellScript.ts';
import { readWindowsShell } from './windowsShell.ts';
import { commandsInside } from './wrappers.ts';

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
 * inside each other; so are PowerShell and cmd. Any other argv is one command.
 */
export async function readCommand(argv: readonly string[], parse: BashParser): Promise<ReadCommand> {
  const windows = readWindowsShell(argv);
  const line = windows?.line ?? (await readLine(argv, parse, maxShells));
  const anywhere = await everyCommand(argv, parse, maxDepth);
  return { line, anywhere, language: windows?.language ?? 'shell' };
}

async function readLine(argv: Words, parse: BashParser, depth: number): Promise<CommandLine> {
  const script = shellScript(argv);
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
  if (line.kind === 'hereDocument') {
    return shellScript(line.command) === undefined ? line : opaque('here-document');
  }
  const commands: Words[] = [];
  for (const words of line.commands) {
    const inner = await readLine(words, parse, depth - 1);
    switch (inner.kind) {
      case 'opaque':
        return inner;
      case 'commands':
        commands.push(...inner.commands);
        break;
      case 'hereDocument':
        if (line.commands.length > 1) {
          return opaque('here-document');
        }
        return inner;
    }
  }
  return { kind: 'commands', commands };
}

/** A command and everything that is found in it: the script of a shell, what a wrapper runs. */
async function everyCommand(words: Words, parse: BashParser, depth: number): Promise<readonly Words[]> {
  const script = shellScript(words);
  const inside =
    script === undefined
      ? (readWindowsShell(words)?.anywhere ?? commandsInside(words))
      : await commandsOfScript(script, parse);
  const own = script === undefined && words.length > 0 ? [words] : [];
  const found =
    depth === 0 ? [] : await Promise.all(inside.map((inner) => everyCommand(inner, parse, depth - 1)));
  return [...own, ...found.flat()];
}
