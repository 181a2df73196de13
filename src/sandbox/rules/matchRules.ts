import { posix } from 'node:path';
import { programName } from '../commands/shellScript.ts';
import type { PrefixRule, RuleSet } from './rule.ts';

/**
 * The rules that a command certainly meets: its first word is the rule's, or an absolute path that
 * `host_executable` lists for it.
 */
export function matchAllowing(words: readonly string[], rules: RuleSet): readonly PrefixRule[] {
  const names = allowedNames(words[0] ?? '', rules);
  return rules.prefixes.filter((rule) => rule.decision === 'allow' && startsWith(words, rule.pattern, names));
}

/** The rules that a command could mean to get around: they see through any path before the program's name. */
export function matchNarrowing(words: readonly string[], rules: RuleSet): readonly PrefixRule[] {
  const names = possibleNames(words[0] ?? '');
  return rules.prefixes.filter((rule) => rule.decision !== 'allow' && startsWith(words, rule.pattern, names));
}

/** How many of a rule's words a command has from its start. */
export function commonLength(words: readonly string[], { pattern }: PrefixRule): number {
  return commonWords(words, pattern, possibleNames(words[0] ?? ''));
}

/** Whether a command has the words of a pattern, with one of `names` for its program. */
export function startsWith(
  words: readonly string[],
  pattern: PrefixRule['pattern'],
  names: readonly string[],
): boolean {
  return commonWords(words, pattern, names) === pattern.length;
}

function commonWords(
  words: readonly string[],
  pattern: PrefixRule['pattern'],
  names: readonly string[],
): number {
  const differs = pattern.findIndex((one, index) =>
    index === 0 ? !names.some((name) => one.includes(name)) : !hasWord(one, words[index]),
  );
  return differs === -1 ? pattern.length : differs;
}

function hasWord(one: readonly string[], word: string | undefined): boolean {
  return word !== undefined && one.includes(word);
}

function allowedNames(program: string, { hostExecutables }: RuleSet): readonly string[] {
  // What `..` leads to depends on links.
  if (!posix.isAbsolute(program) || program.split('/').includes('..')) {
    return [program];
  }
  const name = programName(program);
  const isListed = hostExecutables.get(name)?.includes(posix.normalize(program)) === true;
  return isListed ? [program, name] : [program];
}

/** Also what a disk without regard for case, and Windows, take it for. */
function possibleNames(program: string): readonly string[] {
  const name = programName(program.replaceAll('\\', '/'));
  return [program, name, name.toLowerCase().replace(/\.(?:exe|cmd|bat|com)$/, '')];
}
