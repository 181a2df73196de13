import { join, normalize } from 'node:path';
import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { EnvironmentPolicy } from '../environment.ts';
import { defaultEnvironmentPolicy } from '../environment.ts';
import { noHosts } from './hostRules.ts';
import type { NetworkMode, PolicySource, SandboxMode, SandboxPolicy, TmpMode } from './policy.ts';
import { networkModes, sandboxModes, tmpModes } from './policy.ts';

/** A setting or a choice that is not what it must be. */
export interface PolicyProblem {
  /** The setting at fault, as the user knows it. */
  readonly field: string;
  readonly message: string;
  readonly hint: string;
}

/** Values as they come from settings and storage: unchecked. Undefined means not set. */
export interface PolicyInput {
  /** Canonical path of the root. */
  readonly root: string;
  readonly isTrusted: boolean;
  readonly user: {
    readonly mode?: unknown;
    readonly network?: unknown;
    readonly tmp?: unknown;
    readonly writableRoots?: unknown;
    readonly environment?: unknown;
  };
  /** The person's choice for this root, kept in the extension's own storage; replaces the user's value. */
  readonly grant?: { readonly mode?: unknown; readonly network?: unknown };
  /** What the workspace says about itself: it can only narrow. */
  readonly workspace?: { readonly mode?: unknown; readonly network?: unknown; readonly tmp?: unknown };
  readonly homeDir: string;
  /** The canonical path of an existing folder or file; undefined when there is none. */
  readonly canonicalize: (path: string) => string | undefined;
}

/** Strictest first: what narrows lies to the left. */
const strictness = { mode: sandboxModes, network: networkModes, tmp: tmpModes } as const;
const defaults = { mode: 'workspace-write', network: 'off', tmp: 'private' } as const;

const environmentSchema = z
  .strictObject({
    inherit: z.enum(['all', 'core', 'none']),
    ignoreDefaultExcludes: z.boolean(),
    exclude: z.array(z.string()),
    set: z.record(z.string(), z.string()),
    includeOnly: z.array(z.string()),
  })
  .partial();
const writableRootsSchema = z.array(z.string().regex(/^(\/|~$|~\/)/));

/**
 * The policy of a root, from everything that has a say in it. The workspace can only narrow what the user, or the
 * person's choice for this root, allows; an untrusted workspace is read-only and without network whatever they say.
 * `danger-full-access` confines nothing, so its network is on and its `/tmp` shared. Fails on the first value that
 * is not allowed: a policy is never guessed.
 */
export function resolvePolicy(input: PolicyInput): Result<SandboxPolicy, PolicyProblem> {
  const mode = resolveClause<SandboxMode>('mode', input);
  const network = resolveClause<NetworkMode>('network', input);
  const tmp = resolveClause<TmpMode>('tmp', input);
  const added = resolveWritableRoots(input);
  const environment = resolveEnvironment(input.user.environment);
  for (const part of [mode, network, tmp, added, environment]) {
    if (!part.ok) {
      return part;
    }
  }
  if (!mode.ok || !network.ok || !tmp.ok || !added.ok || !environment.ok) {
    throw new Error('unreachable: every part was checked');
  }
  const isOpen = mode.value.value === 'danger-full-access';
  const networkClause = isOpen ? { value: 'on' as const, source: mode.value.source } : network.value;
  const tmpClause = isOpen ? { value: 'shared' as const, source: mode.value.source } : tmp.value;
  const access = mode.value.value === 'read-only' ? ('read' as const) : ('write' as const);
  const opened = [...new Set([input.root, ...added.value])];
  return ok({
    root: input.root,
    mode: mode.value.value,
    files: [
      ...(opened.includes('/') ? [] : [{ path: '/', access: 'read', source: 'default' } as const]),
      ...opened.map((path) => ({ path, access, source: mode.value.source })),
    ],
    hidden: [],
    git: 'read-only',
    caches: 'off',
    tmp: tmpClause.value,
    network: networkClause.value,
    hosts: noHosts,
    sockets: [],
    environment: environment.value,
    limits: {},
    sources: {
      mode: mode.value.source,
      files: 'default',
      writableRoots: added.value.length > 0 ? 'user' : 'default',
      git: 'default',
      caches: 'default',
      tmp: tmpClause.source,
      network: networkClause.source,
      hosts: 'default',
      sockets: 'default',
      environment: input.user.environment === undefined ? 'default' : 'user',
      limits: 'default',
    },
  });
}

interface Clause<T> {
  readonly value: T;
  readonly source: PolicySource;
}

function resolveClause<T extends string>(
  name: keyof typeof strictness,
  input: PolicyInput,
): Result<Clause<T>, PolicyProblem> {
  const allowed = strictness[name] as readonly string[] as readonly T[];
  const grants: { readonly mode?: unknown; readonly network?: unknown; readonly tmp?: unknown } =
    input.grant ?? {};
  const candidates = [
    { value: input.user[name], source: 'user', owner: 'the user settings' },
    { value: grants[name], source: 'grant', owner: 'the choice made for this root' },
    { value: input.workspace?.[name], source: 'workspace', owner: 'the workspace settings' },
  ] as const;
  let clause: Clause<T> = { value: defaults[name] as string as T, source: 'default' };
  for (const { value, source, owner } of candidates) {
    if (value === undefined) {
      continue;
    }
    const parsed = allowed.find((word) => word === value);
    if (parsed === undefined) {
      return fail(problem(`cordon.sandbox.${name}`, value, owner, `one of ${quotedList(allowed)}`));
    }
    const narrows = allowed.indexOf(parsed) < allowed.indexOf(clause.value);
    if (source !== 'workspace' || narrows) {
      clause = { value: parsed, source };
    }
  }
  const [strictest] = allowed;
  return ok(input.isTrusted || strictest === undefined ? clause : { value: strictest, source: 'untrusted' });
}

function resolveWritableRoots({ user, homeDir, canonicalize }: PolicyInput): Result<string[], PolicyProblem> {
  if (user.writableRoots === undefined) {
    return ok([]);
  }
  const parsed = writableRootsSchema.safeParse(user.writableRoots);
  if (!parsed.success) {
    return fail(
      problem(
        'cordon.sandbox.writableRoots',
        culprit(user.writableRoots, parsed.error),
        'the user settings',
        'a list of absolute paths or paths that begin with "~/"',
      ),
    );
  }
  const absolute = parsed.data.map((path) =>
    path.startsWith('~') ? join(homeDir, path.slice(1)) : normalize(path),
  );
  return ok(absolute.map(canonicalize).filter((path) => path !== undefined));
}

function resolveEnvironment(value: unknown): Result<EnvironmentPolicy, PolicyProblem> {
  const parsed = environmentSchema.safeParse(value ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = (issue?.path ?? []).map(String);
    return fail({
      field: ['cordon.sandbox.environment', ...path].join('.'),
      message: `The setting ${['cordon.sandbox.environment', ...path].join('.')} is not valid: ${issue?.message ?? ''}.`,
      hint: 'Correct it in the user settings: inherit (all, core or none), ignoreDefaultExcludes, exclude, set, includeOnly.',
    });
  }
  const given = Object.entries(parsed.data).filter(([, field]) => field !== undefined);
  return ok({ ...defaultEnvironmentPolicy, ...Object.fromEntries(given) });
}

/** The element that the schema complains about, or the whole value. */
function culprit(value: unknown, error: z.ZodError): unknown {
  const index = error.issues[0]?.path[0];
  return Array.isArray(value) && typeof index === 'number' ? (value[index] as unknown) : value;
}

function problem(field: string, value: unknown, owner: string, allowed: string): PolicyProblem {
  return {
    field,
    message: `${field} is ${JSON.stringify(value)} in ${owner}, but must be ${allowed}.`,
    hint: `Correct ${field} in ${owner}. Nothing runs in this root until then.`,
  };
}

function quotedList(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ');
}
