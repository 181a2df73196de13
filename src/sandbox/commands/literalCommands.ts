import type { Node } from 'web-tree-sitter';
import type { BashParser } from './bashParser.ts';
import type { Words } from './commandLine.ts';
import { readsScript } from './wrappers.ts';

/** What the grammar sees in a script. */
export interface SeenScript {
  /** Every command with a literal name, as far as it can be seen; in broken scripts more than there may be. */
  readonly commands: readonly Words[];
  /** Here-documents, if there is a shell that may read its script from one. */
  readonly scripts: readonly string[];
  /** Whether the grammar understands all of it. */
  readonly isUnderstood: boolean;
}

export async function seeScript(script: string, parse: BashParser): Promise<SeenScript> {
  const seen = await parse(script, (program): SeenScript => {
    const commands = literalCommands(program);
    const isUnderstood = !program.hasError;
    return {
      commands: isUnderstood ? commands : [...commands, ...roughCommands(script)],
      scripts: commands.some(readsScript)
        ? program.descendantsOfType('heredoc_body').map(({ text }) => text)
        : [],
      isUnderstood,
    };
  });
  return seen ?? { commands: roughCommands(script), scripts: [], isUnderstood: false };
}

function literalCommands(program: Node): readonly Words[] {
  return program.descendantsOfType('command').flatMap((command) => {
    const [name, ...others] = command.namedChildren.filter(
      ({ type }) => type !== 'variable_assignment' && !type.endsWith('redirect'),
    );
    const called = name?.type === 'command_name' ? literalText(name.firstChild ?? name) : undefined;
    return called === undefined ? [] : [[called, ...others.map((word) => literalText(word) ?? word.text)]];
  });
}

/** The text of a word without its quotes; undefined where a shell would put in something else. */
function literalText(node: Node): string | undefined {
  switch (node.type) {
    case 'word':
    case 'number':
      return node.namedChildCount === 0
        ? node.text.replace(/\\([^])/g, (_, character: string) => (character === '\n' ? '' : character))
        : undefined;
    case 'raw_string':
      return node.text.slice(1, -1);
    case 'string':
      return node.namedChildren.every(({ type }) => type === 'string_content')
        ? node.text
            .slice(1, -1)
            .replace(/\\(["\\$`\n])/g, (_, character: string) => (character === '\n' ? '' : character))
        : undefined;
    case 'concatenation': {
      const parts = node.namedChildren.map(literalText);
      return parts.includes(undefined) ? undefined : parts.join('');
    }
    default:
      return undefined;
  }
}

/** What stands between the operators of a script that nothing better is known about, quotes or not. */
function roughCommands(script: string): readonly Words[] {
  return script
    .split(/[;&|(){}`\n]+/)
    .map((piece) =>
      piece
        .split(/\s+/)
        .map((word) => word.replace(/["'\\]/g, ''))
        .filter((word) => word !== ''),
    )
    .filter((words) => words.length > 0);
}
