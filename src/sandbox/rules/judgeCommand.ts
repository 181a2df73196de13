import type { BashParser } from '../commands/bashParser.ts';
import type { CommandClass } from '../commands/commandClass.ts';
import { classify, classifyLine } from '../commands/commandClass.ts';
import type { ReadCommand, Words } from '../commands/commandLine.ts';
import { readCommand } from '../commands/commandLine.ts';
import { commonLength, matchAllowing, matchNarrowing } from './matchRules.ts';
import { strictest } from './rule.ts';
import type { PrefixRule, RuleDecision, RuleProblem, RuleReach, RuleSet } from './rule.ts';
import { suggestPrefix } from './suggestPrefix.ts';

/** A command and a rule that decides about it. */
export interface RuleMatch {
  readonly words: Words;
  readonly rule: PrefixRule;
}

export interface Judgement {
  readonly read: ReadCommand;
  readonly class: CommandClass;
  /**
   * What the rules say, strictest over all commands. `allow` only of a plainly readable line in which a rule allows
   * a command and each other one is allowed by a rule, too, or safe. Absent: no rule decides.
   */
  readonly decision: RuleDecision | undefined;
  /** Of an allowed line: `outside` only when rules allow that for every command of it. */
  readonly runs?: RuleReach;
  readonly matches: readonly RuleMatch[];
  /** Rules that could not be read, when that is what decides. */
  readonly problem?: RuleProblem;
  /** The rule that came closest without matching, for "why was I asked". */
  readonly nearest?: PrefixRule;
  /** The prefix to offer as a new rule: never a banned one, and only if it would allow every command of the line. */
  readonly suggestion?: Words;
}

/**
 * What the rules say about an argv. What narrows is looked for in everything that may run, also in conditions,
 * substitutions and behind wrappers; what allows counts only for what certainly runs. `wantedPrefix` is the rule that
 * the model would like to have.
 */
export async function judgeCommand(
  argv: Words,
  rules: RuleSet,
  parse: BashParser,
  wantedPrefix?: Words,
): Promise<Judgement> {
  return judgeRead(await readCommand(argv, parse), rules, wantedPrefix);
}

/** The same about a command that has been read. */
export function judgeRead(read: ReadCommand, rules: RuleSet, wantedPrefix?: Words): Judgement {
  const plain = plainCommands(read);
  const everything = uniqueCommands([...plain, ...read.anywhere]);
  const lineClass = classifyLine(read);
  const narrowing = matchesOf(everything, (words) => matchNarrowing(words, rules));
  const allowing = matchesOf(plain, (words) => matchAllowing(words, rules));
  const isApproved = (words: Words): boolean =>
    allowing.some((match) => match.words === words) || isSafe(words, read);
  const isAllowed = allowing.length > 0 && plain.every(isApproved);
  const problem = lineClass === 'safe' ? rules.problems.find(isManaged) : mostSevere(rules.problems);
  const decision = strictest([
    ...narrowing.map(({ rule }) => rule.decision),
    ...(isAllowed ? (['allow'] as const) : []),
    ...(problem === undefined ? [] : [isManaged(problem) ? ('forbidden' as const) : ('prompt' as const)]),
  ]);
  const matches = [...narrowing, ...allowing];
  const nearest = nearestRule(everything, rules, matches);
  const suggestion =
    read.line.kind === 'commands' && decision === undefined && isHarmless(lineClass)
      ? suggestPrefix(
          plain.filter((words) => !isApproved(words)),
          wantedPrefix,
        )
      : undefined;
  return {
    read,
    class: lineClass,
    decision,
    matches,
    ...(decision === 'allow' && { runs: reachOf(plain, allowing) }),
    ...(problem !== undefined && { problem }),
    ...(nearest !== undefined && { nearest }),
    ...(suggestion !== undefined && { suggestion }),
  };
}

/** The commands that certainly are all that runs. */
function plainCommands({ line }: ReadCommand): readonly Words[] {
  switch (line.kind) {
    case 'commands':
      return line.commands;
    case 'hereDocument':
      return [line.command];
    case 'opaque':
      return [];
  }
}

/** Both readings find most commands. */
function uniqueCommands(commands: readonly Words[]): readonly Words[] {
  return [...new Map(commands.map((words) => [JSON.stringify(words), words])).values()];
}

function matchesOf(
  commands: readonly Words[],
  find: (words: Words) => readonly PrefixRule[],
): readonly RuleMatch[] {
  return commands.flatMap((words) => find(words).map((rule) => ({ words, rule })));
}

/** What a here-document feeds may be more than it reads. */
function isSafe(words: Words, { line, language }: ReadCommand): boolean {
  return line.kind === 'commands' && classify(words, language) === 'safe';
}

function isHarmless(lineClass: CommandClass): boolean {
  return lineClass === 'safe' || lineClass === 'ordinary';
}

function reachOf(plain: readonly Words[], allowing: readonly RuleMatch[]): RuleReach {
  const mayLeave = (words: Words): boolean =>
    allowing.some((match) => match.words === words && match.rule.runs === 'outside');
  return plain.every(mayLeave) ? 'outside' : 'inside';
}

function isManaged({ source }: RuleProblem): boolean {
  return source === 'managed';
}

function mostSevere(problems: readonly RuleProblem[]): RuleProblem | undefined {
  return problems.find(isManaged) ?? problems[0];
}

function nearestRule(
  commands: readonly Words[],
  { prefixes }: RuleSet,
  matches: readonly RuleMatch[],
): PrefixRule | undefined {
  let nearest: PrefixRule | undefined;
  let length = 0;
  for (const rule of prefixes) {
    const common = Math.max(0, ...commands.map((words) => commonLength(words, rule)));
    if (common > length && !matches.some((match) => match.rule === rule)) {
      nearest = rule;
      length = common;
    }
  }
  return nearest;
}
