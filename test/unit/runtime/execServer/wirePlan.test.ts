import assert from 'node:assert/strict';
import { planFromContents } from '../../../../src/patch/plan/planFromContents.ts';
import type { Plan } from '../../../../src/patch/plan/plan.ts';
import { wirePlan } from '../../../../src/runtime/execServer/protocol/cordon.ts';
import {
  planFromWire,
  planToWire,
  sizeOfPlan,
  tooLarge,
} from '../../../../src/runtime/execServer/services/patches/wirePlan.ts';

const mebibyte = 1024 * 1024;

describe('a plan on the wire', () => {
  const plan: Plan = planFromContents([
    { path: '/p/a', name: 'a', before: undefined, after: Buffer.from([0, 255, 10]) },
    { path: '/p/b', name: 'b', before: undefined, after: Buffer.from([0, 255, 10]), mode: 0o755 },
  ]);

  it('comes out as it went in, with equal contents once', () => {
    const wire = wirePlan.parse(JSON.parse(JSON.stringify(planToWire(plan))));
    assert.equal(Object.keys(wire.contents).length, 1);
    assert.deepEqual(planFromWire(wire), JSON.parse(JSON.stringify(plan), revive));
  });

  it('is refused when a content is missing', () => {
    assert.throws(
      () => planFromWire({ ...planToWire(plan), contents: {} }),
      /content [0-9a-f]{64} is missing/,
    );
  });

  it('is not sent when it would not fit into a message', () => {
    assert.equal(sizeOfPlan(plan), 3);
    assert.equal(tooLarge(42 * mebibyte), undefined);
    assert.match(tooLarge(42 * mebibyte + 1)?.message ?? '', /too large .* more than 42 MiB/);
  });
});

function revive(_: string, value: unknown): unknown {
  const buffer = value as { readonly type?: unknown; readonly data?: readonly number[] } | null;
  return buffer?.type === 'Buffer' ? Buffer.from(buffer.data ?? []) : value;
}
