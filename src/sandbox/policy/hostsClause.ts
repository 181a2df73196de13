import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { problemWith } from './checkSettings.ts';
import type { Clause } from './clauses.ts';
import type { HostPattern, HostRules } from './hostRules.ts';
import { formatHostPattern, narrowHosts, noHosts, parseHostPattern } from './hostRules.ts';
import type { PolicyProblem } from './input.ts';
import type { Layer, Layers } from './layers.ts';
import type { NetworkMode } from './policy.ts';

/**
 * The hosts of the allow-list. The person's layers count entry by entry; what narrows adds denials and leaves of what
 * is allowed only what it allows as well. Where the person's network is `on`, everything with a name is allowed.
 */
export function hostsClause(
  { person, narrowing }: Layers,
  network: NetworkMode,
): Result<Clause<HostRules>, PolicyProblem> {
  let decisions: Decisions = new Map();
  let source: Clause<HostRules>['source'] = 'default';
  for (const layer of person) {
    const own = readHosts(layer);
    if (!own.ok) {
      return own;
    }
    if (own.value.size > 0) {
      decisions = new Map([...decisions, ...own.value]);
      source = layer.owner.source;
    }
  }
  let rules = rulesOf(decisions);
  let isOpen = network === 'on';
  for (const layer of narrowing) {
    const own = readHosts(layer);
    if (!own.ok) {
      return own;
    }
    if (own.value.size > 0) {
      const limit = rulesOf(own.value);
      // Of an open network whatever is listed stays, addresses included.
      const allow = limit.allow.length > 0 ? limit.allow : [{ host: '*' }];
      rules = narrowHosts(isOpen ? { ...rules, allow } : rules, limit);
      source = layer.owner.source;
    }
    isOpen &&= own.value.size === 0 && (layer.settings.network ?? 'on') === 'on';
  }
  return ok({ value: rules, source });
}

type Decisions = ReadonlyMap<string, { readonly pattern: HostPattern; readonly decision: 'allow' | 'deny' }>;

function readHosts({ owner, settings }: Layer): Result<Decisions, PolicyProblem> {
  const decisions = new Map<string, { readonly pattern: HostPattern; readonly decision: 'allow' | 'deny' }>();
  for (const [text, decision] of Object.entries(settings.hosts ?? {})) {
    const pattern = parseHostPattern(text);
    if (!pattern.ok) {
      return fail(problemWith(owner, ['hosts'], text, pattern.error));
    }
    if (pattern.value.host === '*' && decision === 'deny') {
      return fail(
        problemWith(owner, ['hosts', text], decision, '"allow": what is not allowed is denied anyway'),
      );
    }
    const name = formatHostPattern(pattern.value);
    // Written twice in different ways, the stricter counts.
    if (decisions.get(name)?.decision !== 'deny') {
      decisions.set(name, { pattern: pattern.value, decision });
    }
  }
  return ok(decisions);
}

function rulesOf(decisions: Decisions): HostRules {
  const all = [...decisions.values()];
  const patterns = (wanted: 'allow' | 'deny'): readonly HostPattern[] =>
    all.filter(({ decision }) => decision === wanted).map(({ pattern }) => pattern);
  return all.length === 0 ? noHosts : { allow: patterns('allow'), deny: patterns('deny') };
}
