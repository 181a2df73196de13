import { posix } from 'node:path';
import { programName } from '../commands/shellScript.ts';
import { startsWith } from './matchRules.ts';
import { formatPattern } from './rule.ts';
import type { PrefixRule, RuleSet } from './rule.ts';

/**
 * Whether a rule meets an example, as Codex has it: a path stands for its program unless `host_executable` lists
 * others. (For a command that is to run, a path must be listed to be allowed, and none hides what is forbidden.)
 */
export function meetsExample(
  words: readonly string[],
  pattern: PrefixRule['pattern'],
  hostExecutables: RuleSet['hostExecutables'],
): boolean {
  const [program = ''] = words;
  const name = programName(program);
  const listed = hostExecutables.get(name);
  const isProgram = listed === undefined || listed.includes(posix.normalize(program));
  return startsWith(words, pattern, isProgram ? [program, name] : [program]);
}

/** The words of an error about an example: what is wrong with it, and what is expected of it. */
export function wrongExample(
  words: readonly string[],
  rule: Pick<PrefixRule, 'pattern'>,
  {
    shouldMeet,
    rules,
  }: { readonly shouldMeet: boolean; readonly rules: Pick<RuleSet, 'prefixes' | 'hostExecutables'> },
): { readonly found: string; readonly expected: string } {
  const example = `the example \`${words.join(' ')}\``;
  const name = `the rule \`${formatPattern(rule.pattern)}\``;
  if (!shouldMeet) {
    return { found: `${example}, which ${name} matches`, expected: `a command that ${name} does not match` };
  }
  const other = rules.prefixes.find(
    (one) => one !== rule && meetsExample(words, one.pattern, rules.hostExecutables),
  );
  const instead =
    other === undefined
      ? 'no rule does'
      : `the rule \`${formatPattern(other.pattern)}\` of ${other.origin.place} does`;
  return {
    found: `${example}, which ${name} does not match (${instead})`,
    expected: `a command that begins with the words of ${name}`,
  };
}
