import { acceptedAccess } from '../../../../patch/acceptedAccess.ts';
import { createAccessUnder, watchedPolicy } from '../../../../patch/accessUnder.ts';
import { applyPlan } from '../../../../patch/apply/applyPlan.ts';
import { completeRestore } from '../../../../patch/checkpoint/completeRestore.ts';
import { createDiskFileSystem } from '../../../../patch/files/diskFileSystem.ts';
import type { Entry } from '../../../../patch/files/fileSystem.ts';
import { FileError } from '../../../../patch/files/fileSystem.ts';
import { missingFoldersAbove } from '../../../../patch/files/missingFolders.ts';
import { parsePatch } from '../../../../patch/format/parsePatch.ts';
import { cannotRead, causeOf } from '../../../../patch/plan/ioErrors.ts';
import { planPatch } from '../../../../patch/plan/planPatch.ts';
import type { SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import { readAccess } from '../../../../sandbox/readAccess.ts';
import type { WirePolicy } from '../../protocol/cordon.ts';
import { pathOf } from '../../protocol/fileUri.ts';
import type { Handlers } from '../../server/service.ts';
import { asRpc, narrowedHere } from '../sandboxContext/confinement.ts';
import type { ContextMachine } from '../sandboxContext/contextMachine.ts';
import { fromWire } from '../sandboxContext/wirePolicy.ts';
import { planFromWire, planToWire, sizeOfPlan, tooLarge } from './wirePlan.ts';

export interface PatchServiceOptions {
  readonly machine: ContextMachine;
  /** What later runs trust: no patch writes there. */
  readonly trustedPaths: () => readonly string[];
}

/**
 * Patches of a client, planned and applied where the files are, by the engine and the rules that hold for patches
 * anywhere. What waits for a person waits at the client, which sends what they accepted.
 */
export function patchHandlers({ machine, trustedPaths }: PatchServiceOptions): Handlers {
  const files = createDiskFileSystem();
  const policyOf = (wire: WirePolicy): SandboxPolicy => {
    const sent = fromWire(wire, machine);
    const policy = sent.ok ? asRpc(narrowedHere(sent.value, machine)) : sent;
    if (!policy.ok) {
      throw policy.error;
    }
    return policy.value;
  };
  return {
    'cordon/patch/plan': async ({ patch: text, cwd, policy: wire, isWatched }) => {
      const policy = policyOf(wire);
      const patch = parsePatch(text);
      if (!patch.ok) {
        return { problem: patch.error };
      }
      const planned = await planPatch(patch.value, {
        files,
        cwd: pathOf(cwd),
        access: createAccessUnder(trustedPaths())(isWatched ? watchedPolicy(policy) : policy),
        readAccess: readAccess(policy),
      });
      if (!planned.ok) {
        return { problem: planned.error };
      }
      const { plan, refusals } = planned.value;
      const problem = tooLarge(sizeOfPlan(plan));
      return problem === undefined ? { plan: planToWire(plan), refusals: [...refusals] } : { problem };
    },
    'cordon/patch/apply': async ({ plan, policy: wire, accepted }) => {
      const judge = createAccessUnder(trustedPaths())(policyOf(wire));
      const access = acceptedAccess(judge, accepted.map(pathOf));
      const applied = await applyPlan(planFromWire(plan), files, access);
      return applied.ok ? {} : { problem: applied.error };
    },
    'cordon/patch/look': async ({ paths: uris, policy: wire, withContents }) => {
      const paths = uris.map(pathOf);
      const judge = createAccessUnder(trustedPaths())(watchedPolicy(policyOf(wire)));
      try {
        const found = await Promise.all(paths.map((path) => files.stat(path)));
        const problem = withContents
          ? tooLarge(found.reduce((sum, entry) => sum + sizeOf(entry), 0))
          : undefined;
        if (problem !== undefined) {
          return { problem };
        }
        const entries = await Promise.all(
          found.map(async (entry, index) =>
            withContents && entry.kind === 'file'
              ? { entry, content: (await files.read(paths[index] ?? '')).toString('base64') }
              : { entry },
          ),
        );
        const missingFolders = [...(await missingFoldersAbove(paths))];
        const refusals = paths.map(judge).filter((refusal) => refusal !== undefined);
        return { entries, missingFolders, refusals };
      } catch (error) {
        if (error instanceof FileError) {
          return { problem: cannotRead(error.path, causeOf(error.code)) };
        }
        throw error;
      }
    },
    'cordon/patch/completeRestore': async ({ folders, links }) => ({
      problems: [
        ...(await completeRestore({
          newFolders: folders.map(pathOf),
          files: links.map(({ path, name, target }) => ({ path: pathOf(path), name, link: target })),
        })),
      ],
    }),
  };
}

function sizeOf(entry: Entry): number {
  return entry.kind === 'file' ? entry.size : 0;
}
