import { silentLog } from '../../../../base/log.ts';
import { createAccessUnder } from '../../../../patch/accessUnder.ts';
import { createDiskPatchHost } from '../../../../patch/diskPatchHost.ts';
import { PatchRunner } from '../../../patches/patchRunner.ts';
import { pathOf } from '../../protocol/fileUri.ts';
import type { Handlers } from '../../server/service.ts';
import { asRpc, narrowedHere } from '../sandboxContext/confinement.ts';
import type { ContextMachine } from '../sandboxContext/contextMachine.ts';
import { fromWire } from '../sandboxContext/wirePolicy.ts';

export interface PatchServiceOptions {
  readonly machine: ContextMachine;
  /** What later runs trust: no patch writes there. */
  readonly trustedPaths: () => readonly string[];
}

/** Patches of a client, applied where the files are, by the engine and the rules that hold for patches anywhere. */
export function patchHandlers({ machine, trustedPaths }: PatchServiceOptions): Handlers {
  return {
    'cordon/patch/apply': async ({ patch, cwd, policy: wire, reviewMode }, { signal }) => {
      const sent = fromWire(wire, machine);
      const policy = sent.ok ? asRpc(narrowedHere(sent.value, machine)) : sent;
      if (!policy.ok) {
        throw policy.error;
      }
      const accessUnder = createAccessUnder(trustedPaths());
      const runner = new PatchRunner({
        host: createDiskPatchHost(accessUnder),
        roots: { reviewModeFor: () => reviewMode },
        log: silentLog,
        accessUnder,
      });
      const root = { name: policy.value.root, path: policy.value.root };
      const place = { cwd: pathOf(cwd), root, policy: policy.value };
      const { text, isError } = await runner.run({ text: patch, place, signal });
      return { text, isError };
    },
  };
}
