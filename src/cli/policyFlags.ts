import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { silentLog } from '../base/log.ts';
import type { AccessUnder } from '../patch/accessUnder.ts';
import { createAccessUnder } from '../patch/accessUnder.ts';
import type { Root, Roots } from '../runtime/roots.ts';
import { createSandboxManager } from '../sandbox/createSandboxManager.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { nodeMachine } from '../sandbox/policy/nodeMachine.ts';
import { resolvePolicy } from '../sandbox/policy/resolve.ts';
import type { SandboxManager } from '../sandbox/sandboxManager.ts';
import { UsageError } from './usageError.ts';

export const policyOptions = {
  root: { type: 'string' },
  mode: { type: 'string' },
  network: { type: 'string' },
  tmp: { type: 'string' },
  writable: { type: 'string', multiple: true },
} as const;

export interface PolicyFlags {
  readonly root?: string | undefined;
  readonly mode?: string | undefined;
  readonly network?: string | undefined;
  readonly tmp?: string | undefined;
  readonly writable?: readonly string[] | undefined;
}

const flagOfSetting: Readonly<Record<string, string>> = {
  'cordon.sandbox.mode': '--mode',
  'cordon.sandbox.network': '--network',
  'cordon.sandbox.tmp': '--tmp',
  'cordon.sandbox.writableRoots': '--writable',
};

/** The root and policy that flags describe. Throws a {@link UsageError} that names the flag at fault. */
export function policyFromFlags(flags: PolicyFlags): { root: Root; policy: SandboxPolicy } {
  const folder = resolve(flags.root ?? '.');
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new UsageError(`--root ${folder}: not an existing folder.`);
  }
  const path = realpathSync(folder);
  const resolved = resolvePolicy({
    root: path,
    isTrusted: true,
    user: {
      mode: flags.mode,
      network: flags.network,
      tmp: flags.tmp,
      writableRoots: flags.writable?.map((writable) => resolve(writable)),
    },
    ...nodeMachine(),
  });
  if (!resolved.ok) {
    const { field, message, hint } = resolved.error;
    throw new UsageError(`${flagOfSetting[field] ?? field}: ${message} ${hint}`);
  }
  return { root: { name: basename(path), path }, policy: resolved.value };
}

export function rootsOf(root: Root, policy: SandboxPolicy): Roots {
  return {
    list: () => [root],
    active: () => root,
    policyFor: () => ({ ok: true, value: policy }),
    // Who types the command line sees the patch before it runs.
    reviewModeFor: () => 'never',
  };
}

/** Where the command and what belongs to it lie. */
function ownFolder(): string {
  return dirname(realpathSync(process.argv[1] as string));
}

/** The programs that every command finds first. */
export function cliHelperFolder(): string {
  return join(ownFolder(), 'bin');
}

/** What patches may write: never the command's own files. */
export function cliAccessUnder(): AccessUnder {
  return createAccessUnder([ownFolder()]);
}

/** The sandbox of this machine; the helper program lies beside the command, whose files stay as they are. */
export function createCliSandbox(policy: SandboxPolicy): SandboxManager {
  return createSandboxManager({
    platform: process.platform,
    helperPath: join(ownFolder(), 'helper', `launch-linux-${process.arch}`),
    trustedPaths: [ownFolder()],
    searchPath: process.env['PATH'] ?? '',
    log: silentLog,
    untrustedFolders: () => [policy.root],
  });
}
