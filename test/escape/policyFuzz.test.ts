import assert from 'node:assert/strict';
import { fuzzPolicy } from '../harness/policyFuzz.ts';

const seed = Number(process.env['CORDON_FUZZ_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['CORDON_FUZZ_ROUNDS'] ?? 60);

describe('The launcher does what the policy says', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
    // Every round is a start of the sandbox, on a machine that may be busy.
    this.timeout(rounds * 10_000);
  });

  it(`for random trees, rules and operations (seed ${seed}, ${rounds} rounds)`, async () => {
    const outcome = await fuzzPolicy({ seed, rounds, operationsPerRound: 150 });
    assert.deepEqual(outcome.differences, []);
    // A model that refuses or allows everything would agree with anything.
    assert.ok(outcome.refusals > outcome.triples / 10 && outcome.refusals < (outcome.triples * 9) / 10);
  });
});
