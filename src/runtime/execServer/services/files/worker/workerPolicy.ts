import { existsSync, realpathSync } from 'node:fs';
import { accessTo } from '../../../../../sandbox/policy/fileRules.ts';
import type { FileRule } from '../../../../../sandbox/policy/fileRules.ts';
import { noHosts } from '../../../../../sandbox/policy/hostRules.ts';
import type { SandboxPolicy } from '../../../../../sandbox/policy/policy.ts';

/** The part of a policy that file calls depend on: policies that differ in nothing else share a worker. */
export function workerPolicy(policy: SandboxPolicy): SandboxPolicy {
  return { ...policy, git: 'read-only', network: 'off', hosts: noHosts, sockets: [], limits: {} };
}

/**
 * With the system's libraries, without which Node does not start. The launcher shows Node itself and Cordon's build.
 * Only for the start: calls are judged by the policy as it is.
 */
export function withLibraries(policy: SandboxPolicy): SandboxPolicy {
  const folders = new Set(
    libraryFolders.filter((path) => existsSync(path)).map((path) => realpathSync(path)),
  );
  const shown = [...folders]
    .filter((path) => accessTo(policy, path) === 'none')
    .map((path): FileRule => ({ path, access: 'read', source: 'request' }));
  const isReplaced = (path: string): boolean => shown.some((rule) => rule.path === path);
  return shown.length === 0
    ? policy
    : { ...policy, files: [...policy.files.filter(({ path }) => !isReplaced(path)), ...shown] };
}

const libraryFolders = ['/lib', '/lib64', '/usr/lib', '/usr/lib64'];
