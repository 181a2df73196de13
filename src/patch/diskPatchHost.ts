import { ok } from '../base/result.ts';
import type { AccessUnder } from './accessUnder.ts';
import { applyPlan } from './apply/applyPlan.ts';
import { createDiskFileSystem } from './files/diskFileSystem.ts';
import type { PatchHost } from './patchHost.ts';

/** Applies patches to the disk alone; there is nobody to review them. */
export function createDiskPatchHost(accessUnder: AccessUnder): PatchHost {
  const files = createDiskFileSystem();
  return {
    files,
    async apply({ plan, policy, site }) {
      const applied = await (site === undefined
        ? applyPlan(plan, files, accessUnder(policy))
        : site.apply({ plan, policy, accepted: [] }));
      return applied.ok ? ok({ notes: [] }) : applied;
    },
  };
}
