import type { Plan } from '../../../../patch/plan/plan.ts';
import type { Blobs } from '../../../../patch/plan/storedPlan.ts';
import { contentsOf, restorePlan, storePlan } from '../../../../patch/plan/storedPlan.ts';
import type { WirePlan } from '../../protocol/cordon.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';

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
