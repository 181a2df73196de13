import { realpathSync } from 'node:fs';
import { childEnvironment } from '../sandbox/environment.ts';
import { isInside } from '../sandbox/paths.ts';
import { accessTo } from '../sandbox/policy/fileRules.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import { temporaryFolders } from '../sandbox/temporaryFolders.ts';
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
    parent: isConfined && policy.tmp === 'shared' ? withoutClosedTmp(policy, parent) : parent,
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

/** Programs take `/tmp` where they are not told of a folder for their temporary files; one that is closed stops them. */
function withoutClosedTmp(policy: SandboxPolicy, parent: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { TMPDIR: folder, ...others } = parent;
  if (folder === undefined || mayWriteIn(policy, folder)) {
    return parent;
  }
  return others;
}

function mayWriteIn(policy: SandboxPolicy, folder: string): boolean {
  try {
    const path = realpathSync(folder);
    return temporaryFolders().some((shared) => isInside(path, shared)) || accessTo(policy, path) === 'write';
  } catch {
    return false;
  }
}
