import type { ReadCommand, Words } from './commandLine.ts';
import { isSafeInPowerShell, isSafeInShell } from './safeCommands.ts';
import { dangerOf } from './dangerousCommands.ts';
import { commandsInside } from './wrappers.ts';

/**
 * `safe`: only reads, and is on the list of those that do. `forced-removal`: `rm` that does not ask. `dangerous`:
 * its like on Windows, and what opens an address with another program.
 */
export type CommandClass = 'safe' | 'dangerous' | 'forced-removal' | 'ordinary';

/** Wrappers in wrappers: nobody writes more. */
const maxWrappers = 5;

/** The class of one command, with what a wrapper like `sudo` runs; scripts are not read. */
export function classify(words: Words, language: ReadCommand['language'] = 'shell'): CommandClass {
  const danger = dangerWithin(words, maxWrappers);
  const isSafe = language === 'powershell' ? isSafeInPowerShell : isSafeInShell;
  return danger ?? (isSafe(words) ? 'safe' : 'ordinary');
}

/** The strictest class of all commands; safe only if every command of a plainly readable line is safe. */
export function classifyLine({ line, anywhere, language }: ReadCommand): CommandClass {
  const commands = line.kind === 'commands' ? line.commands : [];
  const classes = new Set([...anywhere, ...commands].map((words) => classify(words, language)));
  for (const danger of ['forced-removal', 'dangerous'] as const) {
    if (classes.has(danger)) {
      return danger;
    }
  }
  const isSafe = commands.length > 0 && commands.every((words) => classify(words, language) === 'safe');
  return isSafe ? 'safe' : 'ordinary';
}

function dangerWithin(words: Words, depth: number): 'dangerous' | 'forced-removal' | undefined {
  const own = dangerOf(words);
  if (own !== undefined || depth === 0) {
    return own;
  }
  const inner = commandsInside(words).map((command) => dangerWithin(command, depth - 1));
  return inner.find((danger) => danger === 'forced-removal') ?? inner.find((danger) => danger !== undefined);
}
