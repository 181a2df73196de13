import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import type { Clause, Word, WordClause } from './clauses.ts';
import { narrowWord } from './clauses.ts';
import { gatherRules } from './files/personRules.ts';
import { narrowRules } from './files/narrowRules.ts';
import { formatHostPattern } from './hostRules.ts';
import { hostsClause } from './hostsClause.ts';
import type { PolicyMachine, PolicyProblem } from './input.ts';
import type { Layer } from './layers.ts';
import { readLayers } from './layers.ts';
import type { SandboxPolicy } from './policy.ts';
import { demandsSandbox, withoutWrites } from './resolve.ts';
import type { PolicySettings } from './settings.ts';
import { socketsClause } from './socketsClause.ts';

/**
 * A policy that was resolved elsewhere, or from other words than settings, under what the administrator of this machine
 * demands: nowhere wider than it was, and than that. One that was resolved under the same demands stays as it is.
 */
export function underManaged(
  policy: SandboxPolicy,
  managed: unknown,
  machine: PolicyMachine,
): Result<SandboxPolicy, PolicyProblem> {
  const around = { ...machine, root: policy.root };
  const layers = readLayers({ ...around, isTrusted: true, user: {}, managed });
  if (!layers.ok) {
    return layers;
  }
  const [layer] = layers.value.narrowing;
  if (layer === undefined) {
    return ok(policy);
  }
  const own = { person: [ownLayer(policy)], narrowing: [layer] };
  const limits = gatherRules([layer], around);
  const hosts = hostsClause(own, policy.network);
  const sockets = socketsClause(own, machine);
  if (!limits.ok) return limits;
  if (!hosts.ok) return hosts;
  if (!sockets.ok) return sockets;
  const { settings } = layer;
  const narrowed: SandboxPolicy = {
    ...policy,
    ...(settings.files !== undefined && narrowRules(policy, limits.value)),
    mode: stricterWord(policy, 'mode', settings.mode, demandsSandbox(layer) ? 'workspace-write' : undefined),
    git: stricterWord(policy, 'git', settings.git),
    caches: stricterWord(policy, 'caches', settings.caches),
    tmp: stricterWord(policy, 'tmp', settings.tmp),
    network: stricterWord(
      policy,
      'network',
      settings.network,
      listsHosts(settings) ? 'allow-list' : undefined,
    ),
    hosts: hosts.value.value,
    sockets: sockets.value.value,
    limits: lowerLimits(policy, settings),
  };
  return ok(narrowed.mode === 'read-only' ? { ...narrowed, files: withoutWrites(narrowed) } : narrowed);
}

function stricterWord<C extends WordClause>(
  { sources, ...policy }: SandboxPolicy,
  name: C,
  ...words: readonly (Word<C> | undefined)[]
): Word<C> {
  const start: Clause<Word<C>> = { value: policy[name], source: sources[name] };
  return words.reduce((clause, word) => narrowWord(name, clause, word, 'managed'), start).value;
}

/** What the policy lists, in the words of settings. */
function ownLayer({ hosts, sockets }: SandboxPolicy): Layer {
  return {
    owner: { source: 'request', words: 'the request', prefix: 'request' },
    settings: {
      hosts: Object.fromEntries([
        ...hosts.allow.map((pattern) => [formatHostPattern(pattern), 'allow'] as const),
        ...hosts.deny.map((pattern) => [formatHostPattern(pattern), 'deny'] as const),
      ]),
      sockets: [...sockets],
    },
  };
}

function listsHosts({ hosts = {} }: PolicySettings): boolean {
  return Object.keys(hosts).length > 0;
}

function lowerLimits({ limits }: SandboxPolicy, settings: PolicySettings): SandboxPolicy['limits'] {
  const own: Readonly<Record<string, number>> = { ...limits };
  const lower = Object.entries(settings.limits ?? {}).filter(
    ([name, limit]) => typeof limit === 'number' && limit < (own[name] ?? Infinity),
  );
  return { ...limits, ...Object.fromEntries(lower) };
}
