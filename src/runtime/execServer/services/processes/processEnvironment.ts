import type * as z from 'zod';
import { coreVariables, matchesName, secretNames } from '../../../../sandbox/environment.ts';
import type { envPolicy } from '../../protocol/processes.ts';

export type WireEnvPolicy = z.infer<typeof envPolicy>;

/** How a server is started, which is nothing of what it starts. */
const ownVariables = ['CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE', 'ELECTRON_RUN_AS_NODE'];

export interface EnvironmentRequest {
  readonly env: Readonly<Record<string, string>>;
  readonly envPolicy?: WireEnvPolicy | null | undefined;
}

/** The environment that a start asks for: exactly its `env`, or the protocol's six steps with that on top. */
export function requestedEnvironment(
  { env, envPolicy: policy }: EnvironmentRequest,
  parent: NodeJS.ProcessEnv,
): Record<string, string> {
  if (policy === null || policy === undefined) {
    return { ...env };
  }
  const isDropped = matchesName([...(policy.ignoreDefaultExcludes ? [] : secretNames), ...policy.exclude]);
  const isKept = policy.includeOnly.length === 0 ? () => true : matchesName(policy.includeOnly);
  const inherited = inheritable(policy.inherit, parent).filter(([name]) => !isDropped(name));
  const set = Object.entries(policy.set);
  return { ...Object.fromEntries([...inherited, ...set].filter(([name]) => isKept(name))), ...env };
}

function inheritable(inherit: WireEnvPolicy['inherit'], parent: NodeJS.ProcessEnv): [string, string][] {
  if (inherit === 'none') {
    return [];
  }
  return Object.entries(parent).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !ownVariables.includes(entry[0]) &&
      (inherit === 'all' || coreVariables.has(entry[0].toUpperCase())),
  );
}
