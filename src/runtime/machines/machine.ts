import type { Result } from '../../base/result.ts';
import type { PatchSite } from '../../patch/patchSite.ts';
import type { PolicyMachine } from '../../sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import type { StartParams } from '../exec/execBackend.ts';
import type { RefusedCommand } from '../places.ts';
import type { PolicyError, Root } from '../roots.ts';

/** What has to be asked of the machine that runs the commands of a root, before one can be decided about. */
export interface Machine {
  /** What a workdir, absolute or relative to the root, means there. */
  pathOf(root: Root, workdir: string): string;
  /** The canonical path of an existing folder there; undefined when it is none. */
  realFolder(path: string): Promise<Result<string | undefined, RefusedCommand>>;
  /** The policy of a root, resolved there and now. */
  policyFor(root: Root, widenings: readonly Widening[]): Promise<Result<SandboxPolicy, PolicyError>>;
  /** The shell that a command asks for; the person's own when it asks for none. */
  shellFor(wanted: string | undefined): Promise<Result<string, RefusedCommand>>;
  environmentFor(
    policy: SandboxPolicy,
    options: { readonly isTty: boolean; readonly inFront: string | undefined },
  ): Pick<StartParams, 'env' | 'inheritsEnvironment'>;
  /** The programs that every command finds first. */
  readonly helperFolder: string | undefined;
  /** As far as it is known here. */
  readonly paths: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>;
  /** Its files, for patches; absent on this machine. */
  readonly patchSite?: (root: Root) => PatchSite;
  /** Why programs of a script cannot run apart from it; undefined where they can. */
  readonly keepsPartsInside: string | undefined;
}

/** Finds the machine of a root; connects to it where that is needed. */
export type MachineOf = (root: Root) => Promise<Result<Machine, RefusedCommand>>;
