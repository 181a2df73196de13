import assert from 'node:assert/strict';
import { ConfirmationLedger } from '../../../src/ui/tools/confirmationLedger.ts';

const question = { title: 'Run without a sandbox?', message: 'rm -r build', scope: 'in /w/app' };

describe('ConfirmationLedger', () => {
  it('takes an answer once, for the input that was shown', () => {
    const ledger = new ConfirmationLedger();
    ledger.recordAsked('exec', { cmd: 'rm -r build' }, question);
    assert.equal(ledger.useAnswer('exec', { cmd: 'rm -r build' }, question), true);
    assert.equal(ledger.useAnswer('exec', { cmd: 'rm -r build' }, question), false);
  });

  it('takes no answer for an input that was edited on the card', () => {
    const ledger = new ConfirmationLedger();
    ledger.recordAsked('exec', { cmd: 'ls' }, question);
    assert.equal(ledger.useAnswer('exec', { cmd: 'rm -rf ~' }, question), false);
  });

  it('takes no answer to other words, as after a change of policy, or for another tool', () => {
    const ledger = new ConfirmationLedger();
    ledger.recordAsked('exec', { cmd: 'ls' }, question);
    assert.equal(ledger.useAnswer('exec', { cmd: 'ls' }, { ...question, message: 'other' }), false);
    assert.equal(ledger.useAnswer('exec', { cmd: 'ls' }, { ...question, scope: 'in /w/other' }), false);
    assert.equal(ledger.useAnswer('write', { cmd: 'ls' }, question), false);
  });

  it('forgets the oldest questions that nobody followed up', () => {
    const ledger = new ConfirmationLedger();
    for (let i = 0; i < 1000; i += 1) {
      ledger.recordAsked('exec', { cmd: i }, question);
    }
    assert.equal(ledger.useAnswer('exec', { cmd: 0 }, question), false);
    assert.equal(ledger.useAnswer('exec', { cmd: 999 }, question), true);
  });
});
