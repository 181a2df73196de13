import type { CommandLine } from './commandLine.ts';
import { opaque } from './opaqueReason.ts';

/** Names that are no commands, or after which names of the same script may mean something else. */
const special: ReadonlySet<string> = new Set([
  ...['begin', 'break', 'catch', 'class', 'clean', 'configuration', 'continue', 'data', 'define', 'do'],
  ...['dynamicparam', 'else', 'elseif', 'end', 'enum', 'exit', 'filter', 'finally', 'for', 'foreach', 'from'],
  ...[
    'function',
    'hidden',
    'if',
    'in',
    'inlinescript',
    'interface',
    'module',
    'namespace',
    'parallel',
    'param',
  ],
  ...['process', 'return', 'sequence', 'static', 'switch', 'throw', 'trap', 'try', 'until', 'using', 'var'],
  ...[
    'while',
    'workflow',
    'foreach-object',
    'where',
    'where-object',
    'iex',
    'invoke-expression',
    'sal',
    'nal',
  ],
  ...['set-alias', 'new-alias', 'import-alias', 'ipal', 'ipmo', 'import-module', 'icm', 'invoke-command'],
  ...['set-variable', 'new-variable', 'set', 'sv', 'nv', 'set-strictmode'],
]);

/** One word with what may stand before it; quotes only around whole words. */
const token =
  /[ \t]*(?:'((?:[^'\u2018-\u201b]|'')*)'(?=[ \t;|&\n]|$)|"([^"$`\u201c-\u201e]*)"(?=[ \t;|&\n]|$)|([\w.\\/:=+-]+)(?=[ \t;|&\n]|$)|(&&|\|\||[;|\n]))[ \t]*/y;

/** Reads a script of PowerShell that is nothing but plain commands; everything else is opaque. */
export function readPlainPowerShell(script: string): CommandLine {
  if (script.trim() === '') {
    return opaque('empty');
  }
  if (script.length > 8_192) {
    return opaque('too-long');
  }
  if (/[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}]--[\t\n ]]/v.test(script)) {
    return opaque('characters');
  }
  const commands: string[][] = [];
  let words: string[] = [];
  let isJoined = false;
  token.lastIndex = 0;
  for (let at = 0; at < script.length; at = token.lastIndex) {
    token.lastIndex = at;
    const match = token.exec(script);
    if (match === null) {
      return opaque('dynamic');
    }
    const [, single, double, bare, operator] = match;
    if (operator === undefined) {
      const word = single?.replaceAll("''", "'") ?? double ?? bare ?? '';
      if (words.length === 0 ? !isPlainName(bare) : !isPlainArgument(word, bare !== undefined)) {
        return opaque('dynamic');
      }
      words.push(word);
    } else if (words.length > 0) {
      commands.push(words);
      words = [];
      isJoined = operator !== ';' && operator !== '\n';
    } else if (operator !== '\n') {
      return opaque('syntax');
    }
  }
  if (words.length === 0 && isJoined) {
    return opaque('syntax');
  }
  return { kind: 'commands', commands: words.length > 0 ? [...commands, words] : commands };
}

function isPlainName(bare: string | undefined): boolean {
  return (
    bare !== undefined &&
    /^[A-Za-z][\w.\\/-]*$|^[A-Za-z]:\\[\w.\\-]*$/.test(bare) &&
    !special.has(bare.toLowerCase())
  );
}

/** A word that cmdlets and programs get as it stands: no number in disguise, nothing that older versions break up. */
function isPlainArgument(word: string, isBare: boolean): boolean {
  if (word === '' || word.includes('"') || (/\s/.test(word) && word.endsWith('\\'))) {
    return false;
  }
  if (/^(?:alias|function|variable|env):/i.test(word)) {
    return false;
  }
  return (
    !isBare ||
    /^(?:-[A-Za-z][\w-]*|0|[1-9]\d{0,8}|[A-Za-z_\\/][\w.\\/:=+-]*|\.{1,2}(?:[\\/][\w.\\/:=+-]*)?)$/.test(word)
  );
}
