import type { ReadCommand, Words } from './commandLine.ts';
import { opaque } from './opaqueReason.ts';
import { readPlainPowerShell } from './plainPowerShell.ts';
import { isOfTheSystem } from './shellScript.ts';

/** Options of PowerShell that change nothing about the script. */
const harmlessOptions: ReadonlySet<string> = new Set([
  '-nologo',
  '-noprofile',
  '-noninteractive',
  '-mta',
  '-sta',
]);

const windowsFolders =
  /^c:\\(?:windows\\system32\\windowspowershell\\v1\.0|program files\\powershell\\\d+)\\[^\\/]+$/i;

/** Reads a line of PowerShell or cmd; undefined for any other argv. What cmd would do is never certain. */
export function readWindowsShell([path = '', ...args]: Words): ReadCommand | undefined {
  const name = path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.exe$/, '');
  switch (name) {
    case 'pwsh':
    case 'powershell':
      return readPowerShell(args, isOfTheSystem(path) || windowsFolders.test(path));
    case 'cmd': {
      const start = args.findIndex((arg) => /^[/-][ckr]$/i.test(arg));
      const anywhere = start === -1 ? [] : roughWindowsCommands(args.slice(start + 1).join(' '));
      return { line: opaque('dynamic'), anywhere, language: 'shell' };
    }
    default:
      return undefined;
  }
}

function readPowerShell(args: Words, isSystem: boolean): ReadCommand {
  const start = args.findIndex((arg) => !harmlessOptions.has(arg.toLowerCase()));
  const [option = '', script = '', ...others] = start === -1 ? [] : args.slice(start);
  const isOneScript = /^[-/]c(?:ommand)?$/i.test(option) && others.length === 0;
  const line = isOneScript && isSystem ? readPlainPowerShell(script) : opaque('dynamic');
  return {
    line,
    anywhere: start === -1 ? [] : roughWindowsCommands(args.slice(start + (isOneScript ? 1 : 0)).join(' ')),
    language: 'powershell',
  };
}

/** What stands between the operators, parentheses and braces of a line, quotes or not; calls also with their arguments. */
function roughWindowsCommands(text: string): readonly Words[] {
  const pieces = text.split(/[;&|{}\n]+/);
  return [...pieces, ...pieces.flatMap((piece) => piece.split(/[()]+/).slice(1))]
    .map((piece) =>
      piece
        .split(/[\s()[\]]+/)
        .map((word) => word.replace(/["'`^]/g, ''))
        .filter((word) => word !== ''),
    )
    .filter((words) => words.length > 0);
}
