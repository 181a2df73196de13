import type { EnvironmentPolicy } from '../environment.ts';
import { accesses, accessTo } from '../policy/fileRules.ts';
import { formatHostPattern } from '../policy/hostRules.ts';
import type { ResourceLimits } from '../policy/limits.ts';
import {
  cacheModes,
  gitModes,
  isUnsandboxed,
  networkModes,
  sandboxModes,
  tmpModes,
} from '../policy/policy.ts';
import type { PolicyClause, SandboxPolicy } from '../policy/policy.ts';

/** Something that a policy allows and another does not. */
export interface Widening {
  readonly clause: PolicyClause;
  /** As in "network: off → on" without the name of the clause. */
  readonly what: string;
}

/** Everything that `after` allows and `before` does not. Empty exactly when `after` is nowhere wider. */
export function wideningsOf(before: SandboxPolicy, after: SandboxPolicy): readonly Widening[] {
  if (isUnsandboxed(before)) {
    return [];
  }
  const words = [
    ...widerWord('mode', sandboxModes, before, after),
    ...widerWord('network', networkModes, before, after),
    ...widerWord('git', gitModes, before, after),
    ...widerWord('caches', cacheModes, before, after),
    ...widerWord('tmp', tmpModes, before, after),
  ];
  return isUnsandboxed(after)
    ? words
    : [
        ...words,
        ...widerFiles(before, after),
        ...widerHosts(before, after),
        ...added('sockets', before.sockets, after.sockets),
        ...widerEnvironment(before.environment, after.environment),
        ...widerLimits(before.limits, after.limits),
      ];
}

type WordClause = 'mode' | 'network' | 'git' | 'caches' | 'tmp';

function widerWord(
  clause: WordClause,
  order: readonly string[],
  before: SandboxPolicy,
  after: SandboxPolicy,
): readonly Widening[] {
  const [from, to] = [before[clause], after[clause]];
  return order.indexOf(to) > order.indexOf(from) ? [{ clause, what: `${from} → ${to}` }] : [];
}

/** Between the paths of the rules nothing changes, so looking at these is looking at all. */
function widerFiles(before: SandboxPolicy, after: SandboxPolicy): readonly Widening[] {
  const paths = [...new Set([...before.files, ...after.files].map(({ path }) => path))].sort();
  const opened = paths.flatMap((path) => {
    const [from, to] = [accessTo(before, path), accessTo(after, path)];
    const isWider = accesses.indexOf(to) > accesses.indexOf(from);
    return isWider ? [{ clause: 'files' as const, what: `${path}: ${from} → ${to}` }] : [];
  });
  const kept = new Set(after.hidden.map(({ folder, glob }) => `${folder}\0${glob}`));
  const shown = before.hidden.filter(({ folder, glob }) => !kept.has(`${folder}\0${glob}`));
  return [
    ...opened,
    ...shown.map(({ folder, glob }) => ({
      clause: 'files' as const,
      what: `${glob} below ${folder} no longer hidden`,
    })),
  ];
}

function widerHosts(before: SandboxPolicy, after: SandboxPolicy): readonly Widening[] {
  if (after.network !== 'allow-list' || before.network === 'on') {
    return [];
  }
  const [from, to] = [before, after].map(({ hosts }) => ({
    allow: hosts.allow.map(formatHostPattern),
    deny: hosts.deny.map(formatHostPattern),
  }));
  const allowedBefore = before.network === 'allow-list' ? (from?.allow ?? []) : [];
  const undenied = (from?.deny ?? []).filter((host) => to?.deny.includes(host) !== true);
  return [
    ...added('hosts', allowedBefore, to?.allow ?? []),
    ...(before.network === 'allow-list' ? undenied : []).map((host) => ({
      clause: 'hosts' as const,
      what: `${host} no longer denied`,
    })),
  ];
}

function added(
  clause: 'hosts' | 'sockets',
  before: readonly string[],
  after: readonly string[],
): readonly Widening[] {
  return after.filter((entry) => !before.includes(entry)).map((what) => ({ clause, what }));
}

const inheritance = ['none', 'core', 'all'];

function widerEnvironment(before: EnvironmentPolicy, after: EnvironmentPolicy): readonly Widening[] {
  const isLimitGone = before.includeOnly.length > 0 && after.includeOnly.length === 0;
  const whats = [
    ...(inheritance.indexOf(after.inherit) > inheritance.indexOf(before.inherit)
      ? [`inherits ${before.inherit} → ${after.inherit}`]
      : []),
    ...(after.ignoreDefaultExcludes && !before.ignoreDefaultExcludes ? ['names that look like secrets'] : []),
    ...before.exclude
      .filter((name) => !after.exclude.includes(name))
      .map((name) => `${name} no longer excluded`),
    ...(isLimitGone ? ['no longer limited to names'] : []),
    ...(before.includeOnly.length > 0
      ? after.includeOnly.filter((name) => !before.includeOnly.includes(name)).map((name) => `also ${name}`)
      : []),
  ];
  return whats.map((what) => ({ clause: 'environment', what }));
}

function widerLimits(before: ResourceLimits, after: ResourceLimits): readonly Widening[] {
  return (Object.keys(before) as (keyof ResourceLimits)[]).flatMap((name) => {
    const [from, to] = [before[name], after[name]];
    return from !== undefined && (to === undefined || to > from)
      ? [{ clause: 'limits' as const, what: `${name}: ${from} → ${to ?? 'no limit'}` }]
      : [];
  });
}
