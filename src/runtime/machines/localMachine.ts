import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ok } from '../../base/result.ts';
import { canonicalize, nodeMachine } from '../../sandbox/policy/nodeMachine.ts';
import { environmentUnder } from '../environmentUnder.ts';
import { findShell } from '../findShell.ts';
import type { Roots } from '../roots.ts';
import type { Machine } from './machine.ts';

export interface LocalMachineOptions {
  readonly roots: Roots;
  /** The environment that children inherit from, before the policy's rules. */
  readonly parentEnv: NodeJS.ProcessEnv;
  readonly helperFolder?: string | undefined;
}

/** This machine. */
export function localMachine({ roots, parentEnv, helperFolder }: LocalMachineOptions): Machine {
  return {
    pathOf: (root, workdir) => resolve(root.path, workdir),
    async realFolder(path) {
      const real = canonicalize(path);
      const isFolder =
        real !== undefined && statSync(real, { throwIfNoEntry: false })?.isDirectory() === true;
      return ok(isFolder ? real : undefined);
    },
    policyFor: async (root, widenings) => roots.policyFor(root, widenings),
    shellFor: async (wanted) => findShell(wanted, parentEnv),
    environmentFor: (policy, { isTty, inFront }) => ({
      env: environmentUnder(policy, parentEnv, isTty, { inFront }),
    }),
    helperFolder,
    paths: nodeMachine(),
    keepsPartsInside: undefined,
  };
}
