import type { Node } from 'web-tree-sitter';
import type { BashParser } from './bashParser.ts';
import type { Words } from './commandLine.ts';

/** Every command with a literal name anywhere in a script, as far as it can be seen; also in broken scripts. */
export async function commandsOfScript(script: string, parse: BashParser): Promise<readonly Words[]> {
  return (await parse(script, literalCommands)) ?? roughCommands(script);
}

function literalCommands(program: Node): readonly Words[] {
  const found = program.descendantsOfType('command').flatMap((command) => {
    const [name, ...others] = command.namedChildren.filter(
      ({ type }) => type !== 'variable_assignment' && !type.endsWith('redirect'),
    );
    const called = name?.type === 'command_name' ? literalText(name.firstChild ?? name) : undefined;
    return called === undefined ? [] : [[called, ...others.map((word) => literalText(word) ?? word.text)]];
  });
  return program.hasError ? [...found, ...roughCommands(program.text)] : found;
}

/** The text of a word without its quotes; undefined where a shell would put in something else. */
function literalText(node: Node): string | undefined {
  switch (node.type) {
    case 'word':
    case 'number':
      return node.namedChildCount === 0 ? node.text.replace(/\\([^])/g, '$1') : undefined;
    case 'raw_string':
      return node.text.slice(1, -1);
    case 'string':
      return node.namedChildren.every(({ type }) => type === 'string_content')
        ? node.text.slice(1, -1).replace(/\\(["\\$`\n])/g, '$1')
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
