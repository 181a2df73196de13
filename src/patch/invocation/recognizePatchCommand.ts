import { parsePatch } from '../format/parsePatch.ts';
import type { BashParser } from '../../sandbox/commands/bashParser.ts';
import { readPatchCall } from './readPatchCall.ts';

/** What a command is to the patch engine. */
export type RecognizedCommand =
  /** A patch to apply, in a folder relative to that of the command (or absolute), instead of running anything. */
  | { readonly kind: 'patch'; readonly text: string; readonly workdir?: string | undefined }
  /** A bare patch where a command should be: to be refused with {@link implicitPatchMessage}. */
  | { readonly kind: 'implicit' }
  | { readonly kind: 'none' };

/** What the reference answers to a bare patch. */
export const implicitPatchMessage =
  'patch detected without explicit call to apply_patch. Rerun as ["apply_patch", "<patch>"]';

const commandNames: ReadonlySet<string> = new Set(['apply_patch', 'applypatch']);

/**
 * Tells a patch call from an ordinary command, by the reference's rules (apply-patch §12): a direct call of two words,
 * or a shell whose script is one single statement that feeds a here-document to `apply_patch`, after at most one `cd`.
 */
export async function recognizePatchCommand(
  argv: readonly string[],
  parse: BashParser,
): Promise<RecognizedCommand> {
  const [name = '', text = ''] = argv;
  if (argv.length === 2 && commandNames.has(name)) {
    return { kind: 'patch', text };
  }
  const script = argv.length === 1 ? name : scriptOf(argv);
  if (script === undefined) {
    return { kind: 'none' };
  }
  if (isBarePatch(script)) {
    return { kind: 'implicit' };
  }
  // Loading the grammar and parsing cost more than looking for the words.
  const mayBeCall = argv.length > 1 && /apply_?patch/.test(script) && script.includes('<<');
  const call = mayBeCall
    ? await parse(script, (program) => readPatchCall(script, program, commandNames))
    : undefined;
  return call === undefined ? { kind: 'none' } : { kind: 'patch', ...call };
}

/** The script of a shell call; every script is read with the bash grammar, as in the reference. */
function scriptOf(argv: readonly string[]): string | undefined {
  const [shell = '', ...words] = argv;
  const script = words.pop();
  const flags = words.map((word) => word.toLowerCase());
  switch (shellName(shell)) {
    case 'bash':
    case 'zsh':
    case 'sh':
      return words.length === 1 && (words[0] === '-lc' || words[0] === '-c') ? script : undefined;
    case 'powershell':
    case 'pwsh':
      if (flags.length === 2 && flags[0] === '-noprofile') {
        flags.shift();
      }
      return flags.length === 1 && flags[0] === '-command' ? script : undefined;
    case 'cmd':
      return flags.length === 1 && flags[0] === '/c' ? script : undefined;
    default:
      return undefined;
  }
}

/** File name without folder and extension, in any case. */
function shellName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return name.replace(/(?!^)\.[^.]*$/, '').toLowerCase();
}

/** Only what begins as a patch: the tolerance of the parser for text around one must not reach scripts. */
function isBarePatch(script: string): boolean {
  const [firstLine = ''] = script.trim().split('\n', 1);
  return /^(\*\*\* Begin Patch|<<(EOF|'EOF'|"EOF"))$/.test(firstLine.trim()) && parsePatch(script).ok;
}
