import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import type { Clause } from './clauses.ts';
import { environmentClause, limitsClause, narrowWord, strictestWord, wordClause } from './clauses.ts';
import { defaultFiles } from './defaults.ts';
import type { FileRules } from './fileRules.ts';
import { narrowRules } from './files/narrowRules.ts';
import { gatherRules } from './files/personRules.ts';
import { noHosts } from './hostRules.ts';
import { hostsClause } from './hostsClause.ts';
import type { PolicyInput, PolicyProblem } from './input.ts';
import type { Layer, Layers } from './layers.ts';
import { readLayers } from './layers.ts';
import type { PolicySource, SandboxMode, SandboxPolicy } from './policy.ts';
import { socketsClause } from './socketsClause.ts';

/**
 * The policy of a root, from everything that has a say in it: the defaults, the user's settings, the profile chosen
 * and the person's choice for this root, each replacing what those before say; then the administrator and the
 * workspace, which can only narrow; an untrusted workspace is read-only and reaches nothing whatever they say.
 * `danger-full-access` confines nothing, so its network is on and its `/tmp` shared; who narrows anything beside the
 * mode ends it, because without a sandbox nothing of that would hold. Fails on the first value that is not allowed:
 * a policy is never guessed.
 */
export function resolvePolicy(given: PolicyInput): Result<SandboxPolicy, PolicyProblem> {
  const input = { ...given, ...lookingOnce(given) };
  const layers = readLayers(input);
  if (!layers.ok) {
    return layers;
  }
  const own = { person: layers.value.person, narrowing: [] };
  const hosts = hostsClause(layers.value, wordClause('network', own).value);
  const sockets = socketsClause(layers.value, input);
  const files = fileRules(layers.value, input);
  if (!hosts.ok) return hosts;
  if (!sockets.ok) return sockets;
  if (!files.ok) return files;
  const mode = modeClause(layers.value);
  const policy: SandboxPolicy = {
    root: input.root,
    mode: mode.value,
    ...files.value.value,
    ...settled(
      {
        git: wordClause('git', layers.value),
        caches: wordClause('caches', layers.value),
        tmp: wordClause('tmp', layers.value),
        network: networkClause(layers.value),
        hosts: hosts.value,
        sockets: sockets.value,
        environment: environmentClause(layers.value),
        limits: limitsClause(layers.value, input.memoryMiB),
      },
      { mode: mode.source, files: files.value.source, writableRoots: rootsSource(layers.value) },
    ),
  };
  if (!input.isTrusted) {
    return ok(untrusted(policy));
  }
  return ok(policy.mode === 'danger-full-access' ? unconfined(policy) : confined(policy));
}

/** Many rules ask about the same folders, and one policy is of one moment: each path is looked up once. */
function lookingOnce({ canonicalize }: PolicyInput): Pick<PolicyInput, 'canonicalize'> {
  const known = new Map<string, string | undefined>();
  return {
    canonicalize: (path) => {
      if (!known.has(path)) {
        known.set(path, canonicalize(path));
      }
      return known.get(path);
    },
  };
}

/** Takes clauses apart into their values and, together with those that are known already, their sources. */
function settled<C extends Readonly<Record<string, Clause<unknown>>>, S extends object>(
  clauses: C,
  sources: S,
) {
  const entries = Object.entries(clauses);
  return {
    ...(Object.fromEntries(entries.map(([name, { value }]) => [name, value])) as {
      readonly [N in keyof C]: C[N]['value'];
    }),
    sources: {
      ...sources,
      ...(Object.fromEntries(entries.map(([name, { source }]) => [name, source])) as {
        readonly [N in keyof C]: PolicySource;
      }),
    },
  };
}

function fileRules(
  { person, narrowing }: Layers,
  input: PolicyInput,
): Result<Clause<FileRules>, PolicyProblem> {
  const defaults: Layer = {
    owner: { source: 'default', words: 'the defaults', prefix: 'default' },
    settings: { files: { ...defaultFiles } },
  };
  // Every pattern asks for it.
  const repository = input.repositoryAround(input.root);
  const around = { ...input, repositoryAround: () => repository };
  const gathered = gatherRules([defaults, ...person], around);
  if (!gathered.ok) {
    return gathered;
  }
  let rules = gathered.value;
  for (const layer of narrowing.filter(({ settings }) => settings.files !== undefined)) {
    const limits = gatherRules([layer], around);
    if (!limits.ok) {
      return limits;
    }
    rules = narrowRules(rules, limits.value);
  }
  const sources = new Set([...rules.files, ...rules.hidden].map(({ source }) => source));
  const source = [...person, ...narrowing].findLast(
    ({ owner, settings }) => settings.files !== undefined && sources.has(owner.source),
  )?.owner.source;
  return ok({ value: rules, source: source ?? 'default' });
}

function rootsSource({ person }: Layers): PolicySource {
  const last = person.findLast(({ settings }) => (settings.writableRoots ?? []).length > 0);
  return last?.owner.source ?? 'default';
}

function modeClause(layers: Layers): Clause<SandboxMode> {
  const needsSandbox = layers.narrowing.find(demandsSandbox);
  const mode = wordClause('mode', layers);
  return needsSandbox === undefined
    ? mode
    : narrowWord('mode', mode, 'workspace-write', needsSandbox.owner.source);
}

/** Whether something beside the mode is narrower than what full access gives. */
export function demandsSandbox({ settings }: Layer): boolean {
  const { files = {}, git, caches, tmp, network, hosts, sockets, limits = {} } = settings;
  return (
    Object.values(files).some((access) => access !== 'write') ||
    Object.values(limits).some((limit) => typeof limit === 'number') ||
    [hosts, sockets].some((clause) => clause !== undefined) ||
    (git !== undefined && git !== 'writable') ||
    (caches !== undefined && caches !== 'shared') ||
    tmp === 'private' ||
    (network !== undefined && network !== 'on')
  );
}

/** Who lists hosts wants a list, whatever the word says. */
function networkClause(layers: Layers): Clause<SandboxPolicy['network']> {
  const lists = layers.narrowing.find(({ settings }) => Object.keys(settings.hosts ?? {}).length > 0);
  const network = wordClause('network', layers);
  return lists === undefined ? network : narrowWord('network', network, 'allow-list', lists.owner.source);
}

function confined(policy: SandboxPolicy): SandboxPolicy {
  return policy.mode === 'read-only' ? { ...policy, files: withoutWrites(policy) } : policy;
}

/** Its rules, read-only. */
export function withoutWrites({ files }: SandboxPolicy): SandboxPolicy['files'] {
  return files.map((rule) => (rule.access === 'write' ? { ...rule, access: 'read' } : rule));
}

function unconfined(policy: SandboxPolicy): SandboxPolicy {
  const { mode } = policy.sources;
  return {
    ...policy,
    network: 'on',
    tmp: 'shared',
    sources: { ...policy.sources, network: mode, tmp: mode },
  };
}

/** Whoever opens a folder of strangers has said nothing about it yet. */
function untrusted(policy: SandboxPolicy): SandboxPolicy {
  const source = 'untrusted';
  return {
    ...policy,
    mode: strictestWord('mode'),
    files: withoutWrites(policy),
    git: strictestWord('git'),
    caches: strictestWord('caches'),
    tmp: strictestWord('tmp'),
    network: strictestWord('network'),
    hosts: noHosts,
    sockets: [],
    sources: {
      ...policy.sources,
      mode: source,
      git: source,
      caches: source,
      tmp: source,
      network: source,
      hosts: source,
      sockets: source,
    },
  };
}
