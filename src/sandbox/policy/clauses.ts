import type { EnvironmentPolicy } from '../environment.ts';
import { defaultEnvironmentPolicy } from '../environment.ts';
import { defaultLimits, defaultMemoryShare, defaultWords } from './defaults.ts';
import type { Layers } from './layers.ts';
import type { ResourceLimits } from './limits.ts';
import type { PolicySource } from './policy.ts';
import { cacheModes, gitModes, networkModes, sandboxModes, tmpModes } from './policy.ts';

/** What holds, and who decided it. */
export interface Clause<T> {
  readonly value: T;
  readonly source: PolicySource;
}

/** Strictest first: what narrows lies to the left. */
const strictness = {
  mode: sandboxModes,
  network: networkModes,
  tmp: tmpModes,
  git: gitModes,
  caches: cacheModes,
} as const;
export type WordClause = keyof typeof strictness;
export type Word<C extends WordClause> = (typeof strictness)[C][number];

/** A clause that is one word: the person's strongest, unless something stricter narrows it. */
export function wordClause<C extends WordClause>(name: C, { person, narrowing }: Layers): Clause<Word<C>> {
  const start: Clause<Word<C>> = { value: defaultWords[name], source: 'default' };
  const chosen = person.reduce((clause, { owner, settings }) => {
    const value = settings[name] as Word<C> | undefined;
    return value === undefined ? clause : { value, source: owner.source };
  }, start);
  return narrowing.reduce(
    (clause, { owner, settings }) =>
      narrowWord(name, clause, settings[name] as Word<C> | undefined, owner.source),
    chosen,
  );
}

/** The stricter word; the one that was there when both are the same. */
export function narrowWord<C extends WordClause>(
  name: C,
  clause: Clause<Word<C>>,
  value: Word<C> | undefined,
  source: PolicySource,
): Clause<Word<C>> {
  const order: readonly string[] = strictness[name];
  return value !== undefined && order.indexOf(value) < order.indexOf(clause.value)
    ? { value, source }
    : clause;
}

/** The strictest word of every clause: what an untrusted workspace gets. */
export function strictestWord<C extends WordClause>(name: C): Word<C> {
  return strictness[name][0];
}

export function limitsClause({ person, narrowing }: Layers, memoryMiB: number): Clause<ResourceLimits> {
  const start: Clause<Readonly<Record<string, number>>> = {
    value: {
      ...defaultLimits,
      memoryMiB: Math.floor(memoryMiB * defaultMemoryShare),
    },
    source: 'default',
  };
  const chosen = person.reduce(
    (clause, { owner, settings }) =>
      settings.limits === undefined
        ? clause
        : { value: withLimits(clause.value, settings.limits), source: owner.source },
    start,
  );
  return narrowing.reduce(({ value, source }, { owner, settings }) => {
    const lower = Object.entries(settings.limits ?? {}).filter(
      ([name, limit]) => typeof limit === 'number' && limit < (value[name] ?? Infinity),
    );
    return lower.length === 0
      ? { value, source }
      : { value: withLimits(value, Object.fromEntries(lower)), source: owner.source };
  }, chosen);
}

/** A null lifts a limit. */
function withLimits(
  before: Readonly<Record<string, number>>,
  settings: Readonly<Record<string, number | null | undefined>>,
): Readonly<Record<string, number>> {
  const changed = Object.entries(settings).filter(([, limit]) => limit !== undefined);
  const merged: Readonly<Record<string, number | null | undefined>> = {
    ...before,
    ...Object.fromEntries(changed),
  };
  return Object.fromEntries(
    Object.entries(merged).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

/**
 * The environment: of the person's layers each field counts as the strongest has it. What narrows can start from
 * less, drop names and limit them, but set none.
 */
export function environmentClause({ person, narrowing }: Layers): Clause<EnvironmentPolicy> {
  const chosen = person.reduce<Clause<EnvironmentPolicy>>(
    (clause, { owner, settings }) =>
      settings.environment === undefined
        ? clause
        : { value: { ...clause.value, ...defined(settings.environment) }, source: owner.source },
    { value: defaultEnvironmentPolicy, source: 'default' },
  );
  return narrowing.reduce<Clause<EnvironmentPolicy>>((clause, { owner, settings }) => {
    const value = narrowEnvironment(clause.value, defined(settings.environment ?? {}));
    return JSON.stringify(value) === JSON.stringify(clause.value) ? clause : { value, source: owner.source };
  }, chosen);
}

const inheritance: readonly EnvironmentPolicy['inherit'][] = ['none', 'core', 'all'];

function narrowEnvironment(own: EnvironmentPolicy, by: Partial<EnvironmentPolicy>): EnvironmentPolicy {
  const inherit = by.inherit ?? own.inherit;
  const both = own.includeOnly.filter((glob) => by.includeOnly?.includes(glob) === true);
  const isLimited = (by.includeOnly ?? []).length > 0;
  const includeOnly =
    own.includeOnly.length === 0 ? (by.includeOnly ?? []) : isLimited ? both : own.includeOnly;
  const excludesAll = isLimited && includeOnly.length === 0;
  return {
    inherit: inheritance.indexOf(inherit) < inheritance.indexOf(own.inherit) ? inherit : own.inherit,
    ignoreDefaultExcludes: own.ignoreDefaultExcludes && by.ignoreDefaultExcludes !== false,
    exclude: [...new Set([...own.exclude, ...(by.exclude ?? [])])],
    set: excludesAll ? {} : own.set,
    // An empty list would stand for every name.
    includeOnly: excludesAll ? own.includeOnly : includeOnly,
    ...(excludesAll && { inherit: 'none' }),
  };
}

function defined<T extends object>(value: T): { readonly [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    readonly [K in keyof T]: Exclude<T[K], undefined>;
  };
}
