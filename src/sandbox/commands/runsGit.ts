import type { Node } from 'web-tree-sitter';
import type { BashParser } from './bashParser.ts';
import { isInteractiveShell, programName, shellScript } from './shellScript.ts';
import { commandsInside } from './wrappers.ts';

/** Programs that work on repositories: git, what drives it, and what brings its own. */
const gitPrograms: ReadonlySet<string> = new Set([
  'git',
  'gh',
  'glab',
  'jj',
  'lazygit',
  'tig',
  'gitui',
  'pre-commit',
  'husky',
]);

/** Deep enough for `bash -c` in `bash -c`, and for a wrapper in a wrapper. */
const maxDepth = 5;

/**
 * Whether a command line means to work on a repository: it is git (or a program that drives it), an interactive
 * shell, or a script with such a command word anywhere, also in conditions and substitutions. False for a script
 * that the grammar does not understand.
 */
export async function runsGit(argv: readonly string[], parse: BashParser): Promise<boolean> {
  return isInteractiveShell(argv) || isGitCommand(argv, parse, maxDepth);
}

async function isGitCommand(argv: readonly string[], parse: BashParser, depth: number): Promise<boolean> {
  if (isGitProgram(argv[0] ?? '')) {
    return true;
  }
  const script = shellScript(argv);
  if (script === undefined) {
    return depth > 0 && isOneGitCommand(commandsInside(argv), parse, depth - 1);
  }
  // Most scripts are spared the grammar.
  if (depth === 0 || !mayRunGit.test(script)) {
    return false;
  }
  const parsed = await parse(script, readScript);
  if (parsed === undefined) {
    return false;
  }
  if (await isOneGitCommand(parsed.commands, parse, depth - 1)) {
    return true;
  }
  const [only] = parsed.commands;
  return parsed.isOneCommand && only !== undefined && isInteractiveShell(only);
}

async function isOneGitCommand(
  commands: readonly (readonly string[])[],
  parse: BashParser,
  depth: number,
): Promise<boolean> {
  for (const command of commands) {
    if (await isGitCommand(command, parse, depth)) {
      return true;
    }
  }
  return false;
}

const mayRunGit = new RegExp([...gitPrograms, 'sh\\b', 'ksh', 'fish'].join('|'));

function isGitProgram(word: string): boolean {
  const name = programName(word);
  return gitPrograms.has(name) || name.startsWith('git-');
}

interface Script {
  /** Every simple command as plain words; a word with an expansion in it stands as it is written. */
  readonly commands: readonly (readonly string[])[];
  /** A shell that reads from a pipe or a file is no interactive one. */
  readonly isOneCommand: boolean;
}

function readScript(program: Node): Script | undefined {
  if (program.hasError) {
    return undefined;
  }
  const commands = program.descendantsOfType('command');
  return {
    commands: commands.map((command) =>
      command.namedChildren
        .filter(({ type }) => type !== 'variable_assignment' && !type.endsWith('redirect'))
        .map(plainText),
    ),
    isOneCommand: commands.length === 1 && commands[0]?.text === program.text.trim(),
  };
}

function plainText(node: Node): string {
  const inner = node.type === 'command_name' ? (node.firstChild ?? node) : node;
  return inner.type === 'raw_string' || inner.type === 'string' ? inner.text.slice(1, -1) : inner.text;
}
