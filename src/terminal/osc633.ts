/**
 * The shell-integration sequences that VS Code reads from a terminal's output, written by ourselves:
 * command marks, exit status and a trusted command line, without any script inside a shell.
 */

/** What introduces a command: its folder, a prompt, the command line as the editor may trust it. */
export interface CommandStart {
  readonly cwd: string;
  readonly commandLine: string;
  /** The terminal's `shellIntegrationNonce`: proves that the command line comes from us, not from output. */
  readonly nonce: string;
}

/** Everything up to the point where the command's own output begins. */
export function commandStarted({ cwd, commandLine, nonce }: CommandStart): string {
  return [
    mark(`P;Cwd=${escapeValue(cwd)}`),
    mark('A'),
    `${dim}$ ${reset}`,
    mark('B'),
    printable(commandLine),
    mark(`E;${escapeValue(commandLine)};${escapeValue(nonce)}`),
    '\r\n',
    mark('C'),
  ].join('');
}

/** Ends the command's output; without an exit code the editor shows no verdict. */
export function commandFinished(exitCode: number | undefined): string {
  return mark(exitCode === undefined ? 'D' : `D;${exitCode}`);
}

/** Backslash, semicolon and control characters as `\xNN`, as the sequences require. */
export function escapeValue(text: string): string {
  return text.replace(/[\\;\p{Cc}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    // The parser reads exactly two hex digits and a backslash as itself doubled.
    return character === '\\' ? '\\\\' : `\\x${code.toString(16).padStart(2, '0')}`;
  });
}

const dim = '\x1b[2m';
const reset = '\x1b[0m';

function mark(body: string): string {
  return `\x1b]633;${body}\x07`;
}

/** A command line must not draw on the terminal by the escape sequences that it contains. */
function printable(commandLine: string): string {
  return commandLine
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '\ufffd')
    .replaceAll('\n', '\r\n');
}
