import assert from 'node:assert/strict';
import { defaultApproval, neverAsk } from '../../../../src/runtime/approvals/approvalPolicy.ts';
import { decidePart } from '../../../../src/runtime/approvals/decidePart.ts';
import type { Ways } from '../../../../src/runtime/approvals/decidePart.ts';
import { offersForPart } from '../../../../src/runtime/approvals/offers.ts';
import { createBashParser } from '../../../../src/sandbox/commands/bashParser.ts';
import { askedPrograms, restrictedPrograms } from '../../../../src/sandbox/rules/askedPrograms.ts';
import { judgeCommand } from '../../../../src/sandbox/rules/judgeCommand.ts';
import type { PrefixRule } from '../../../../src/sandbox/rules/rule.ts';
import { noRules } from '../../../../src/sandbox/rules/rule.ts';
import { policyOf } from '../../../harness/policyOf.ts';

const parse = createBashParser();
const rule = (
  line: string,
  decision: PrefixRule['decision'],
  runs: PrefixRule['runs'] = 'inside',
): PrefixRule => ({
  pattern: line.split(' ').map((word) => word.split('|')),
  decision,
  runs,
  origin: { source: 'user', place: 'test.rules:1' },
});
const open: Ways = { widenings: [{ kind: 'path', path: '/b', access: 'write' }], mayLeave: true };

describe('the decision about a part of a script', () => {
  async function decide(
    line: string,
    prefixes: readonly PrefixRule[],
    { ways = open, approval = defaultApproval, policy = policyOf('/r') } = {},
  ) {
    const judgement = await judgeCommand(line.split(' '), { ...noRules, prefixes }, parse);
    return decidePart({ judgement, approval, policy, root: { name: 'r', path: '/r' } }, ways);
  }

  it('asks where a rule asks, with what there is to give', async () => {
    const decision = await decide('git push', [rule('git push', 'prompt')]);
    assert.ok(decision.kind === 'ask');
    assert.deepEqual(decision.question.widenings, open.widenings);
    assert.equal(decision.question.mayLeave, true);
  });

  it('says what is in the way of more', async () => {
    const ways = { widenings: [], mayLeave: false, obstacle: 'of the weather' };
    const decision = await decide('git push', [rule('git push', 'prompt')], { ways });
    assert.ok(decision.kind === 'ask');
    assert.match(decision.question.reason, /sandbox of its script: of the weather\./);
  });

  it('leaves alone what no rule speaks of, however dangerous, and what nobody is asked about', async () => {
    const inside = { kind: 'inside' };
    assert.deepEqual(await decide('rm -rf /', [rule('git push', 'prompt')]), inside);
    assert.deepEqual(await decide('git push', [rule('git push', 'prompt')], { approval: neverAsk }), inside);
    assert.deepEqual(await decide('git push', [rule('git push', 'allow')]), inside);
  });

  it('lets out what a rule lets out, unless something is in the way', async () => {
    const rules = [rule('git push', 'allow', 'outside')];
    assert.equal((await decide('git push', rules)).kind, 'outside');
    assert.equal((await decide('git push', rules, { ways: { ...open, mayLeave: false } })).kind, 'inside');
    const untrusted = policyOf('/r', { sources: { ...policyOf('/r').sources, mode: 'untrusted' } });
    assert.equal((await decide('git push', rules, { policy: untrusted })).kind, 'inside');
  });

  it('refuses what a rule forbids, in its words', async () => {
    const decision = await decide('git push', [
      rule('git push', 'forbidden'),
      rule('git', 'allow', 'outside'),
    ]);
    assert.ok(decision.kind === 'refuse');
    assert.match(decision.message, /“git push” \(test\.rules:1\) forbids git push/);
  });
});

describe('the programs that are asked about', () => {
  it('are the names of which rules say more than yes', () => {
    const prefixes = [
      rule('git push', 'prompt'),
      rule('npm|yarn publish', 'forbidden'),
      rule('gh', 'allow', 'outside'),
      rule('ls', 'allow'),
      rule('/usr/bin/rm', 'forbidden'),
      rule('..', 'forbidden'),
      rule('git', 'forbidden'),
    ];
    assert.deepEqual(askedPrograms({ prefixes }), ['git', 'npm', 'yarn', 'gh']);
    assert.deepEqual(askedPrograms(noRules), []);
    assert.deepEqual(restrictedPrograms({ prefixes }), ['git', 'npm', 'yarn']);
  });

  it('are no more than a sandbox takes', () => {
    const prefixes = Array.from({ length: 1000 }, (_, index) => rule(`p${index}`, 'prompt'));
    assert.equal(askedPrograms({ prefixes }).length, 200);
  });
});

describe('the answers to a question about a part', () => {
  it('have the narrowest yes first and the no last, and leaving only where that may be', () => {
    const ids = (ways: Ways): readonly string[] => offersForPart(ways).map(({ id }) => id);
    assert.deepEqual(ids(open), ['once', 'inside', 'remember', 'unsandboxed', 'deny']);
    assert.deepEqual(ids({ widenings: [], mayLeave: false }), ['inside', 'remember', 'deny']);
  });
});
