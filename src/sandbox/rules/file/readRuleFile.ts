import { posix } from 'node:path';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import { meetsExample, wrongExample } from '../examples.ts';
import { networkProtocols } from '../rule.ts';
import type {
  NetworkProtocol,
  NetworkRule,
  PrefixRule,
  RuleOrigin,
  RuleProblem,
  RuleSet,
  RuleSource,
} from '../rule.ts';
import {
  bindArguments,
  readDecision,
  readExamples,
  readJustification,
  readPattern,
  readText,
  readTexts,
} from './arguments.ts';
import type { Example } from './arguments.ts';
import { readHost } from './hosts.ts';
import { positionOf, RuleSyntaxError } from './problem.ts';
import type { Offset } from './problem.ts';
import { readCalls } from './statements.ts';
import type { Call } from './statements.ts';
import { describeValue } from './values.ts';
import type { Value } from './values.ts';

/** What one file says; it is read as a whole or not at all. */
export type RuleFile = Omit<RuleSet, 'problems'>;

/** Codex takes these names for https, too. */
const otherProtocols: Readonly<Record<string, NetworkProtocol>> = {
  https_connect: 'https',
  'http-connect': 'https',
};

/** Rules of a person or an administrator that allow a command mean what they mean to Codex: without a sandbox. */
const reach = { user: 'outside', managed: 'outside', grant: 'inside', workspace: 'inside' } as const;

/** Reads a `.rules` file and checks its examples. The problem says where, what was found and what is expected. */
export function readRuleFile(
  text: string,
  { path, source }: { readonly path: string; readonly source: RuleSource },
): Result<RuleFile, RuleProblem> {
  try {
    return ok(new RuleFileReader(text, path, source).read());
  } catch (error) {
    if (!(error instanceof RuleSyntaxError)) {
      throw error;
    }
    const { line, column } = positionOf(text, error.offset);
    const place = `${path}:${line}:${column}`;
    return fail({ source, place, message: `${place}: ${error.message}.` });
  }
}

class RuleFileReader {
  readonly #text: string;
  readonly #path: string;
  readonly #source: RuleSource;
  readonly #prefixes: PrefixRule[] = [];
  readonly #networks: NetworkRule[] = [];
  readonly #hostExecutables = new Map<string, readonly string[]>();
  readonly #checks: (() => void)[] = [];

  constructor(text: string, path: string, source: RuleSource) {
    this.#text = text;
    this.#path = path;
    this.#source = source;
  }

  read(): RuleFile {
    for (const call of readCalls(this.#text, ['prefix_rule', 'host_executable', 'network_rule'])) {
      this.#run(call);
    }
    // What a program is may be said below the rule.
    for (const check of this.#checks) {
      check();
    }
    return {
      prefixes: this.#prefixes,
      hostExecutables: this.#hostExecutables,
      networks: this.#networks,
    };
  }

  #run(call: Call): void {
    switch (call.function) {
      case 'prefix_rule':
        return this.#addPrefix(call);
      case 'host_executable':
        return this.#addExecutable(call);
      default:
        return this.#addNetwork(call);
    }
  }

  #addPrefix(call: Call): void {
    const parameters = ['pattern', 'decision', 'match', 'not_match', 'justification'];
    const values = bindArguments(call, parameters, 1);
    const decision = values.get('decision');
    const rule: PrefixRule = {
      pattern: readPattern(values.get('pattern') as Value),
      decision: decision === undefined ? 'allow' : readDecision(decision),
      runs: reach[this.#source],
      ...readJustification(values.get('justification')),
      origin: this.#origin(call),
    };
    const matching = readExamples(values.get('match'));
    const others = readExamples(values.get('not_match'));
    this.#prefixes.push(rule);
    this.#checks.push(() => {
      others.forEach((example) => this.#check(example, rule, false));
      matching.forEach((example) => this.#check(example, rule, true));
    });
  }

  #check({ words, at }: Example, rule: PrefixRule, shouldMeet: boolean): void {
    const rules = { prefixes: this.#prefixes, hostExecutables: this.#hostExecutables };
    if (meetsExample(words, rule.pattern, this.#hostExecutables) !== shouldMeet) {
      const { found, expected } = wrongExample(words, rule, { shouldMeet, rules });
      throw new RuleSyntaxError(at, found, expected);
    }
  }

  #addExecutable(call: Call): void {
    const values = bindArguments(call, ['name', 'paths'], 2);
    const nameValue = values.get('name') as Value;
    const name = readText(nameValue);
    if (name === '' || name === '.' || name === '..' || name.includes('/')) {
      throw new RuleSyntaxError(
        nameValue.at,
        describeValue(nameValue),
        'the name of a program without folders',
      );
    }
    const paths = values.get('paths') as Value;
    for (const path of readTexts(paths)) {
      if (!posix.isAbsolute(path) || posix.basename(posix.normalize(path)) !== name) {
        throw new RuleSyntaxError(paths.at, JSON.stringify(path), `absolute paths that end with /${name}`);
      }
    }
    this.#hostExecutables.set(name, readTexts(paths).map(normalPath));
  }

  #addNetwork(call: Call): void {
    const values = bindArguments(call, ['host', 'protocol', 'decision', 'justification'], 3);
    this.#networks.push({
      host: readHost(values.get('host') as Value),
      protocol: readProtocol(values.get('protocol') as Value),
      decision: readDecision(values.get('decision') as Value, { deny: 'forbidden' }),
      ...readJustification(values.get('justification')),
      origin: this.#origin(call),
    });
  }

  #origin({ at }: { readonly at: Offset }): RuleOrigin {
    return { source: this.#source, place: `${this.#path}:${positionOf(this.#text, at).line}` };
  }
}

function normalPath(path: string): string {
  return posix.normalize(path).replace(/\/$/, '');
}

function readProtocol(value: Value): NetworkProtocol {
  const text = readText(value);
  const protocol = networkProtocols.find((one) => one === text) ?? otherProtocols[text];
  if (protocol === undefined) {
    const known = networkProtocols.map((word) => JSON.stringify(word));
    throw new RuleSyntaxError(value.at, describeValue(value), `one of ${known.join(', ')}`);
  }
  return protocol;
}
