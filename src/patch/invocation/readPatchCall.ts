import type { Node } from 'web-tree-sitter';

export interface PatchCall {
  /** The here-document as it stands in the script: nothing is expanded, no tabs are stripped. */
  readonly text: string;
  /** The argument of `cd` as it stands in the script: nothing is expanded. */
  readonly workdir?: string;
}

/**
 * Reads a script that is nothing but a patch call; undefined for everything else, comments included. What the
 * reference reads unlike a shell would (no expansion, a tilde that is a name) is read that way here.
 */
export function readPatchCall(
  script: string,
  program: Node,
  commandNames: ReadonlySet<string>,
): PatchCall | undefined {
  const [statement, ...rest] = program.children;
  const isAlone = rest.length === 0 || (rest.length === 1 && rest[0]?.type === ';');
  if (statement?.type !== 'redirected_statement' || !isAlone) {
    return undefined;
  }
  const [body, redirect, ...others] = statement.children;
  const text = redirect === undefined || others.length > 0 ? undefined : hereDocument(redirect, script);
  if (body === undefined || text === undefined) {
    return undefined;
  }
  if (isPatchCommand(body, commandNames)) {
    return argumentsOf(body).length === 0 ? { text } : undefined;
  }
  const workdir = body.type === 'list' ? changedFolder(body, commandNames) : undefined;
  return workdir === undefined ? undefined : { text, workdir };
}

/** The text of a redirect that is one complete here-document and has nothing else on its line. */
function hereDocument(redirect: Node, script: string): string | undefined {
  const [operator, start, body, end, ...others] = redirect.children;
  const isComplete =
    redirect.type === 'heredoc_redirect' &&
    (operator?.type === '<<' || operator?.type === '<<-') &&
    start?.type === 'heredoc_start' &&
    body?.type === 'heredoc_body' &&
    end?.type === 'heredoc_end' &&
    end.text !== '' &&
    others.length === 0;
  // The grammar leaves blank lines at the top out of the body node, so the text is cut from the script.
  return isComplete ? script.slice(script.indexOf('\n', start.endIndex) + 1, end.startIndex) : undefined;
}

function isPatchCommand(node: Node, commandNames: ReadonlySet<string>): boolean {
  return node.type === 'command' && commandNames.has(bareName(node));
}

/** The folder of `cd FOLDER && apply_patch`. */
function changedFolder(list: Node, commandNames: ReadonlySet<string>): string | undefined {
  const [change, operator, call, ...others] = list.children;
  const isChain = operator?.type === '&&' && others.length === 0;
  if (!isChain || change?.type !== 'command' || bareName(change) !== 'cd') {
    return undefined;
  }
  const [folder, ...more] = argumentsOf(change);
  const isCall = call !== undefined && isPatchCommand(call, commandNames);
  return isCall && folder !== undefined && more.length === 0 ? literalText(folder) : undefined;
}

/** The name of a command as one plain word; empty when it is anything else. */
function bareName(command: Node): string {
  const [word, ...others] = command.childForFieldName('name')?.children ?? [];
  return word?.type === 'word' && others.length === 0 ? word.text : '';
}

function argumentsOf(command: Node): readonly Node[] {
  return command.children.filter(({ type }) => type !== 'command_name' && type !== 'variable_assignment');
}

/** A bare word or a quoted text; of double quotes the only literal part. Empty and glued words are not read. */
function literalText(argument: Node): string | undefined {
  switch (argument.type) {
    case 'word':
      return argument.text;
    case 'raw_string':
      return argument.text.slice(1, -1) || undefined;
    case 'string': {
      const [content, ...others] = argument.children.filter(({ type }) => type === 'string_content');
      return others.length === 0 ? content?.text : undefined;
    }
    default:
      return undefined;
  }
}
