/** What a rule says about commands that begin with its words; strictest last. */
export const ruleDecisions = ['allow', 'prompt', 'forbidden'] as const;
export type RuleDecision = (typeof ruleDecisions)[number];

/** Whose rules they are. Rules of a workspace can only narrow. */
export type RuleSource = 'user' | 'workspace' | 'managed' | 'grant';

export interface RuleOrigin {
  readonly source: RuleSource;
  /** `path:line` of a file, or the setting or grant, as a person knows it. */
  readonly place: string;
}

/** Where a command that a rule allows runs: under the policy of its root, or without a sandbox. */
export type RuleReach = 'inside' | 'outside';

/** Decides about commands that begin with these words. */
export interface PrefixRule {
  /** Per word, the words that may stand there; neither the list nor an element of it is empty. */
  readonly pattern: readonly (readonly string[])[];
  readonly decision: RuleDecision;
  /** For `allow` only. */
  readonly runs: RuleReach;
  /** Why, in the words of who wrote the rule. */
  readonly justification?: string;
  readonly origin: RuleOrigin;
}

export const networkProtocols = ['http', 'https', 'socks5_tcp', 'socks5_udp'] as const;
export type NetworkProtocol = (typeof networkProtocols)[number];

/** Decides about one host, over one protocol. */
export interface NetworkRule {
  /** Lower case, without port. */
  readonly host: string;
  readonly protocol: NetworkProtocol;
  readonly decision: RuleDecision;
  readonly justification?: string;
  readonly origin: RuleOrigin;
}

/** Rules that could not be read. While there is one, its owner's rules are unknown. */
export interface RuleProblem {
  readonly source: RuleSource;
  /** `path:line:column`, or the setting. */
  readonly place: string;
  /** What was found and what is expected; a sentence that begins with the place. */
  readonly message: string;
}

/** Every rule that holds in one root. */
export interface RuleSet {
  readonly prefixes: readonly PrefixRule[];
  /** Program → absolute paths that are that program. */
  readonly hostExecutables: ReadonlyMap<string, readonly string[]>;
  readonly networks: readonly NetworkRule[];
  readonly problems: readonly RuleProblem[];
}

export const noRules: RuleSet = { prefixes: [], hostExecutables: new Map(), networks: [], problems: [] };

/** The strictest of some decisions; undefined for none. */
export function strictest(decisions: readonly RuleDecision[]): RuleDecision | undefined {
  return ruleDecisions.findLast((decision) => decisions.includes(decision));
}

/** `git push|pull`, as rules are shown to people. */
export function formatPattern(pattern: PrefixRule['pattern']): string {
  return pattern.map((words) => words.map(formatWord).join('|')).join(' ');
}

function formatWord(word: string): string {
  return /^[^\s"'|\\]+$/.test(word) ? word : JSON.stringify(word);
}
