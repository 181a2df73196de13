import { spellings } from '../../../../sandbox/importers/importHosts.ts';
import type { HostPattern, HostRules } from '../../../../sandbox/policy/hostRules.ts';
import { parseHostPattern } from '../../../../sandbox/policy/hostRules.ts';
import { invalidWord } from './invalidWord.ts';

export type DomainWords = Readonly<Record<string, 'none' | 'allow' | 'deny'>>;

/**
 * The rules that `domains` are: `example.org`, `*.example.org`, `**.example.org`, `*`, an address, each with a port or
 * without. `none` is no rule. Throws an `RpcError` for a pattern that cannot be kept exactly.
 */
export function hostRulesOf(domains: DomainWords): HostRules {
  const of = (verdict: 'allow' | 'deny'): readonly string[] =>
    Object.entries(domains).flatMap(([pattern, given]) => (given === verdict ? [pattern] : []));
  const field = 'networkProxy.proxy.domains';
  const everything = of('deny').find((pattern) => pattern.trim() === '*');
  if (everything !== undefined) {
    throw invalidWord(
      field,
      `"${everything}" cannot be denied`,
      'Leave it out: what is not allowed is denied',
    );
  }
  return {
    allow: of('allow').flatMap((pattern) => patternsOf(pattern, field)),
    deny: of('deny').flatMap((pattern) => onEveryPort(patternsOf(pattern, field))),
  };
}

/** The hosts that the client wants to be asked about. */
export function reviewPatternsOf(words: readonly string[]): readonly HostPattern[] {
  return words.flatMap((word) =>
    word.trim() === '*' ? everyHost : onEveryPort(patternsOf(word, 'networkProxy.proxy.reviewDomains')),
  );
}

/** `*` alone stands for names. */
const everyHost: readonly HostPattern[] = [{ host: '*' }, { host: '0.0.0.0/0' }, { host: '::/0' }];

/** The reference reads no ports: what takes away counts for all of them. */
function onEveryPort(patterns: readonly HostPattern[]): readonly HostPattern[] {
  return patterns.map(({ host }) => ({ host }));
}

function patternsOf(text: string, field: string): readonly HostPattern[] {
  const parsed = spellings(text).map(parseHostPattern);
  const patterns = parsed.flatMap((pattern) => (pattern.ok ? [pattern.value] : []));
  if (patterns.length === 0 || patterns.length < parsed.length) {
    throw invalidWord(
      field,
      `"${text}" is not a pattern that can be kept exactly here`,
      'Write a host, "*." or "**." before one, an address, or "*" to allow every name',
    );
  }
  return patterns;
}
