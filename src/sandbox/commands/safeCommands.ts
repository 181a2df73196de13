import { platform } from 'node:process';
import type { Words } from './commandLine.ts';

/** Programs that only read, whatever their arguments are. */
const readers: ReadonlySet<string> = new Set([
  ...['cat', 'cd', 'cut', 'echo', 'expr', 'false', 'grep', 'head', 'id', 'ls', 'nl', 'paste', 'pwd', 'rev'],
  ...['seq', 'stat', 'tail', 'tr', 'true', 'uname', 'wc', 'which', 'whoami'],
  ...(platform === 'linux' ? ['numfmt', 'tac'] : []),
]);

/** Programs that only read as long as their arguments are the ones that are known to. */
const limited: ReadonlyMap<string, (args: Words) => boolean> = new Map([
  ['base64', (args) => !args.some((arg) => /^-[^-]*o|^--o/.test(arg))],
  ['find', (args) => !args.some((arg) => /^-(?:exec|execdir|ok|okdir|delete|fls|fprint.*)$/s.test(arg))],
  ['rg', (args) => !args.some(runsPrograms)],
  ['sed', isPrintOfLines],
  // A second operand is the file that it writes.
  [
    'uniq',
    (args) => args.filter((arg) => !/^-./.test(arg)).length < 2 && !args.some((arg) => /^-[fsw]$/.test(arg)),
  ],
]);

/** Whether a command is on the list of those that only read. A program elsewhere than where systems have theirs is not. */
export function isSafeInShell([path = '', ...args]: Words): boolean {
  const [, name = ''] = /^(?:\/(?:usr\/)?bin\/)?([^/]+)$/.exec(path) ?? [];
  return readers.has(name) || limited.get(name)?.(args) === true;
}

/** Letters of the options of ripgrep that take what is behind them as their value. */
const valuedOfRipgrep = 'ABCEMTdefgjmrt';

/** Programs before the search, for the name of the host, or to unpack. */
function runsPrograms(arg: string): boolean {
  if (/^--(?:pre|hostname-bin)(?:=|$)|^--search-zip$/s.test(arg)) {
    return true;
  }
  const [, flags = ''] = /^-([^-].*)$/s.exec(arg) ?? [];
  const value = [...flags].findIndex((flag) => valuedOfRipgrep.includes(flag));
  return (value === -1 ? flags : flags.slice(0, value)).includes('z');
}

/** `sed -n 5p` or `sed -n 1,5p FILE`. */
function isPrintOfLines([quiet, script = '', file = '', ...others]: Words): boolean {
  return quiet === '-n' && /^(?:\d+,)?\d+p$/.test(script) && !file.startsWith('-') && others.length === 0;
}

const powershellReaders: ReadonlySet<string> = new Set([
  ...['echo', 'write-output', 'write-host', 'dir', 'ls', 'get-childitem', 'gci', 'cat', 'type', 'gc'],
  ...['get-content', 'select-string', 'sls', 'findstr', 'measure-object', 'measure', 'get-location', 'gl'],
  ...['pwd', 'test-path', 'resolve-path', 'rvpa', 'select-object', 'select', 'get-item'],
]);

/** The same for the names of PowerShell, which knows no capitals. */
export function isSafeInPowerShell([name = '', ...args]: Words): boolean {
  const called = name.toLowerCase();
  return powershellReaders.has(called) || (called === 'rg' && !args.some(runsPrograms));
}
