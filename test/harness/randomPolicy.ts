import { dirname } from 'node:path';
import {
  cacheModes,
  gitModes,
  networkModes,
  policyClauses,
  tmpModes,
} from '../../src/sandbox/policy/policy.ts';
import type { PolicyClause, PolicySource, SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { accesses } from '../../src/sandbox/policy/fileRules.ts';
import type { Random } from './random.ts';

/** Nothing of it exists on any machine, and all of it is hard for a URI. */
const names = [
  'a b',
  'ü',
  '50%',
  '%2e%2e',
  'x#y?z',
  "it's",
  'back\\slash',
  '~',
  'two\nlines',
  '.env',
  '.vscode',
  'c',
];
const sources: readonly PolicySource[] = [
  'default',
  'user',
  'profile',
  'grant',
  'managed',
  'workspace',
  'request',
];
const hosts = ['example.org', '*.example.org', '*', '10.0.0.0/8', '[::1]', 'fd00::/8', 'localhost'];
const globs = ['*.pem', '**/.env', '**/{a,b}', 'x?[a-c]', '**/id_!(x)'];

/** A policy in which every clause may be anything. Its paths do not exist. */
export function randomPolicy(random: Random): SandboxPolicy {
  const isReadOnly = random.chance(0.3);
  const possible = isReadOnly ? accesses.filter((access) => access !== 'write') : accesses;
  const rules = ['/', ...many(random, 8, () => pathOf(random))].map((path) => ({
    path,
    access: random.pick(possible),
    source: random.pick(sources),
    ...(random.chance(0.4) && { writtenAs: `~/${random.pick(names)}` }),
  }));
  const limit = (name: string): object => (random.chance(0.3) ? { [name]: random.integer(1, 9999) } : {});
  return {
    root: pathOf(random),
    mode: isReadOnly ? 'read-only' : 'workspace-write',
    files: [...new Map(rules.map((rule) => [rule.path, rule])).values()],
    hidden: many(random, 3, () => ({
      folder: pathOf(random),
      glob: random.pick(globs),
      source: random.pick(sources),
    })),
    git: random.pick(gitModes),
    caches: random.pick(cacheModes),
    tmp: random.pick(tmpModes),
    network: random.pick(networkModes),
    hosts: { allow: many(random, 3, () => hostOf(random)), deny: many(random, 2, () => hostOf(random)) },
    sockets: many(random, 2, () => pathOf(random)),
    environment: {
      inherit: random.pick(['all', 'core', 'none']),
      ignoreDefaultExcludes: random.chance(0.5),
      exclude: many(random, 2, () => random.pick(names)),
      set: Object.fromEntries(
        many(random, 2, () => [random.pick(['A', '__proto__x', 'B']), random.pick(names)]),
      ),
      includeOnly: many(random, 2, () => random.pick(names)),
    },
    limits: { ...limit('processes'), ...limit('memoryMiB'), ...limit('fileSizeMiB'), ...limit('cpuSeconds') },
    sources: Object.fromEntries(policyClauses.map((clause) => [clause, random.pick(sources)])) as Record<
      PolicyClause,
      PolicySource
    >,
  };
}

function pathOf(random: Random): string {
  return `/nowhere/${Array.from({ length: random.integer(1, 4) }, () => random.pick(names)).join('/')}`;
}

function hostOf(random: Random): { readonly host: string; readonly port?: number } {
  const host = random.pick(hosts);
  return random.chance(0.5) ? { host } : { host, port: random.integer(1, 65_535) };
}

function many<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: random.integer(0, most) }, make);
}

/** At, below or above a path that a policy names. */
export function randomPath(random: Random, { files, hidden, root }: SandboxPolicy): string {
  const path = random.pick([root, ...files.map(({ path }) => path), ...hidden.map(({ folder }) => folder)]);
  const below = random.pick([...names, 'x.pem', 'a', 'xyb', 'id_k']);
  return random.pick([path, path === '/' ? `/${below}` : `${path}/${below}`, dirname(path)]);
}
