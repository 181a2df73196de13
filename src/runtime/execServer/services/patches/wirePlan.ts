import type { PatchError } from '../../../../patch/patchError.ts';
import type { Plan } from '../../../../patch/plan/plan.ts';
import type { Blobs } from '../../../../patch/plan/storedPlan.ts';
import { contentsOf, restorePlan, storePlan } from '../../../../patch/plan/storedPlan.ts';
import type { WirePlan } from '../../protocol/cordon.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';

/** Of the contents that go over the wire at once, in bytes of base64: a message may have 64 MiB, all in all. */
const mostContents = 56 * 1024 * 1024;

/** The error for contents that are too large for one message; undefined for others. */
export function tooLarge(bytes: number): PatchError | undefined {
  return 4 * Math.ceil(bytes / 3) <= mostContents
    ? undefined
    : {
        kind: 'machine',
        message: `The files of the patch are too large to be sent over the connection: more than ${(mostContents * 3) / 4 / 1024 / 1024} MiB, before and after.`,
        hint: 'Nothing was changed. Split the patch, or change the files with a command.',
      };
}

/** Of its contents, in bytes. */
export function sizeOfPlan(plan: Plan): number {
  return [...storePlan(plan).blobs.values()].reduce((sum, { length }) => sum + length, 0);
}

export function planToWire(plan: Plan): WirePlan {
  const { stored, blobs } = storePlan(plan);
  const contents = [...blobs].map(([name, bytes]) => [name, bytes.toString('base64')]);
  return { ...stored, contents: Object.fromEntries(contents) as WirePlan['contents'] };
}

/** Throws an {@link RpcError} when a content is missing. */
export function planFromWire({ contents, ...stored }: WirePlan): Plan {
  const missing = stored.changes.flatMap(contentsOf).find((name) => contents[name] === undefined);
  if (missing !== undefined) {
    throw new RpcError(errorCodes.invalidParams, `plan.contents: the content ${missing} is missing`);
  }
  const blobs: Blobs = new Map(
    Object.entries(contents).map(([name, text]) => [name, Buffer.from(text, 'base64')]),
  );
  return restorePlan(stored, blobs);
}
