import { childEnvironment } from '../sandbox/environment.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import { searchPathVariables } from './searchPath.ts';

export interface EnvironmentOptions {
  /** Its programs come first on the search path. */
  readonly inFront?: string | undefined;
  /** What whoever starts the command asks for, on top of what the policy lets through. */
  readonly request?: Readonly<Record<string, string>>;
}

/** The environment of a command under a policy. */
export function environmentUnder(
  policy: SandboxPolicy,
  parent: NodeJS.ProcessEnv,
  isTty: boolean,
  { inFront, request = {} }: EnvironmentOptions = {},
): Record<string, string> {
  const isConfined = !isUnsandboxed(policy);
  const environment = childEnvironment({
    policy: policy.environment,
    parent,
    request,
    isTty,
    isNetworkOff: isConfined && policy.network === 'off',
    isProxied: isConfined && policy.network === 'allow-list',
    isTmpPrivate: isConfined && policy.tmp === 'private',
    ...(isConfined && { marker: policy.mode }),
  });
  return inFront === undefined
    ? environment
    : { ...environment, ...searchPathVariables(environment['PATH'], inFront) };
}
