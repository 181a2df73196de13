import assert from 'node:assert/strict';
import { isWithinLimits } from '../../../../src/runtime/execServer/server/messageLimits.ts';

describe('The limits of a message', () => {
  const list = (count: number, item: string): string =>
    `[${Array.from({ length: count }, () => item).join()}]`;

  it('count its values', () => {
    assert.ok(isWithinLimits(list(262_143, '0')));
    assert.ok(!isWithinLimits(list(262_144, '0')));
    assert.ok(isWithinLimits(list(262_143, '[ \n]')));
    assert.ok(!isWithinLimits(list(131_072, '[0]')));
    assert.ok(!isWithinLimits(list(262_144, '{}')));
  });

  it('count how deep they are', () => {
    assert.ok(isWithinLimits('['.repeat(128) + ']'.repeat(128)));
    assert.ok(!isWithinLimits('['.repeat(129) + ']'.repeat(129)));
    assert.ok(isWithinLimits(`[${list(1000, '[[]]')}]`));
  });

  it('do not look into strings', () => {
    assert.ok(isWithinLimits(JSON.stringify({ text: '[,{"'.repeat(300_000) })));
    assert.ok(isWithinLimits(JSON.stringify({ text: `${'\\'.repeat(1001)}"[`, more: '['.repeat(1000) })));
    assert.ok(!isWithinLimits(`["${'\\\\'}",${'['.repeat(200)}`));
    assert.ok(isWithinLimits(`"${'['.repeat(1000)}`));
  });
});
