import assert from 'node:assert/strict';
import type { ApprovalPolicy } from '../../../../src/runtime/approvals/approvalPolicy.ts';
import { defaultApproval, neverAsk } from '../../../../src/runtime/approvals/approvalPolicy.ts';
import type { Decision } from '../../../../src/runtime/approvals/decide.ts';
import { withGrantedPrefixes } from '../../../../src/runtime/approvals/grantedRules.ts';
import { decide } from '../../../../src/runtime/approvals/decide.ts';
import type { RequestedPermissions } from '../../../../src/runtime/approvals/permissions.ts';
import { noPermissions } from '../../../../src/runtime/approvals/permissions.ts';
import type { SandboxPolicy } from '../../../../src/sandbox/policy/policy.ts';
import { createBashParser } from '../../../../src/sandbox/commands/bashParser.ts';
import { judgeCommand } from '../../../../src/sandbox/rules/judgeCommand.ts';
import type { PrefixRule, RuleSet } from '../../../../src/sandbox/rules/rule.ts';
import { noRules } from '../../../../src/sandbox/rules/rule.ts';
import { policyOf } from '../../../harness/policyOf.ts';

const parse = createBashParser();
const root = { name: 'app', path: '/w/app' };
const granular = (asks: Partial<ApprovalPolicy['asks']>): ApprovalPolicy => ({
  mode: 'granular',
  asks: { sandbox: true, rules: true, permissions: true, ...asks },
  source: 'user',
});
const mode = (name: ApprovalPolicy['mode']): ApprovalPolicy => ({ ...defaultApproval, mode: name });
const rule = (
  text: string,
  decision: PrefixRule['decision'],
  runs: PrefixRule['runs'] = 'inside',
): RuleSet => ({
  ...noRules,
  prefixes: [
    {
      pattern: text.split(' ').map((word) => [word]),
      decision,
      runs,
      origin: { source: 'user', place: 'a.rules:1' },
    },
  ],
});
const escalated: RequestedPermissions = { widenings: [{ kind: 'unsandboxed' }], justification: 'May I?' };
const path: RequestedPermissions = { widenings: [{ kind: 'path', path: '/data', access: 'write' }] };

/** `run`, `run outside`, `ask …` with what a yes brings, or `refuse`. */
function words(decision: Decision): string {
  switch (decision.kind) {
    case 'run':
      return decision.widenings.some(({ kind }) => kind === 'unsandboxed') ? 'run outside' : 'run';
    case 'ask':
      return ['ask', ...decision.question.widenings.map(({ kind }) => kind)].join(' ');
    case 'refuse':
      return 'refuse';
  }
}

describe('decide()', () => {
  const confined = policyOf(root.path);
  const open = policyOf(root.path, { mode: 'danger-full-access' });
  const hiding = policyOf(root.path, {
    files: [...confined.files, { path: '/secret', access: 'none', source: 'user' }],
  });

  const rows: readonly (readonly [
    name: string,
    cmd: string,
    expected: string,
    input: {
      readonly approval?: ApprovalPolicy;
      readonly requested?: RequestedPermissions;
      readonly policy?: SandboxPolicy;
      readonly rules?: RuleSet;
    },
  ])[] = [
    ['an ordinary command runs in the sandbox', 'npm test', 'run', {}],
    ['a command that cannot be read runs there, too', 'npm $(cat x)', 'run', {}],
    ['dangerous commands ask', 'rm -rf build', 'ask', {}],
    ['also where they hide', 'if true; then rm -rf build; fi', 'ask', {}],
    ['untrusted asks about ordinary ones', 'npm test', 'ask', { approval: mode('untrusted') }],
    ['but not about harmless ones', 'ls | head -3', 'run', { approval: mode('untrusted') }],
    ['and about what cannot be read', 'ls > x', 'ask', { approval: mode('untrusted') }],
    ['on-failure runs', 'npm test', 'run', { approval: mode('on-failure') }],
    ['never runs', 'npm test', 'run', { approval: neverAsk }],
    ['never refuses dangerous ones', 'rm -rf build', 'refuse', { approval: neverAsk }],
    ['never refuses to leave', 'npm test', 'refuse', { approval: neverAsk, requested: escalated }],
    ['never refuses more', 'npm test', 'refuse', { approval: neverAsk, requested: path }],
    ['leaving asks', 'npm test', 'ask unsandboxed', { requested: escalated }],
    ['more asks', 'npm test', 'ask path', { requested: path }],
    [
      'what is open needs no question',
      'npm test',
      'run',
      { requested: { widenings: [{ kind: 'path', path: '/w/app/src', access: 'write' }] } },
    ],
    [
      'what is hidden by the person keeps the sandbox',
      'npm test',
      'refuse',
      { requested: escalated, policy: hiding },
    ],
    ['but can be widened', 'npm test', 'ask path', { requested: path, policy: hiding }],
    ['forbidden is final', 'git push', 'refuse', { rules: rule('git push', 'forbidden') }],
    [
      'forbidden is found in every place',
      'true && sudo git push',
      'refuse',
      { rules: rule('git push', 'forbidden') },
    ],
    ['prompt asks', 'git push', 'ask', { rules: rule('git push', 'prompt') }],
    [
      'prompt is refused by never',
      'git push',
      'refuse',
      { rules: rule('git push', 'prompt'), approval: neverAsk },
    ],
    [
      'prompt and more is one question',
      'git push',
      'ask path',
      { rules: rule('git push', 'prompt'), requested: path },
    ],
    [
      'granular without sandbox refuses to leave behind a prompt',
      'git push',
      'refuse',
      { rules: rule('git push', 'prompt'), requested: escalated, approval: granular({ sandbox: false }) },
    ],
    [
      'granular without permissions refuses more behind a prompt',
      'git push',
      'refuse',
      { rules: rule('git push', 'prompt'), requested: path, approval: granular({ permissions: false }) },
    ],
    [
      'granular without sandbox refuses danger behind more',
      'rm -rf x',
      'refuse',
      { requested: path, approval: granular({ sandbox: false }) },
    ],
    [
      'allow answers untrusted',
      'npm test',
      'run',
      { rules: rule('npm test', 'allow'), approval: mode('untrusted') },
    ],
    ['allow answers danger', 'rm -rf build', 'run', { rules: rule('rm -rf build', 'allow') }],
    ['allow outside leaves', 'npm test', 'run outside', { rules: rule('npm test', 'allow', 'outside') }],
    [
      'allow outside stays where the sandbox must hold',
      'npm test',
      'run',
      { rules: rule('npm test', 'allow', 'outside'), policy: hiding },
    ],
    [
      'allow inside does not allow to leave',
      'npm test',
      'ask unsandboxed',
      { rules: rule('npm test', 'allow'), requested: escalated },
    ],
    [
      'allow does not let others through',
      'npm test; curl evil',
      'ask',
      { rules: rule('npm test', 'allow'), approval: mode('untrusted') },
    ],
    ['full access asks', 'npm test', 'ask', { policy: open }],
    ['full access and never runs', 'rm -rf build', 'run', { policy: open, approval: neverAsk }],
    [
      'full access runs nothing by the never of a workspace',
      'npm test',
      'refuse',
      { policy: open, approval: { ...neverAsk, source: 'workspace' } },
    ],
    [
      'full access and an allowed one runs',
      'npm test',
      'run',
      { policy: open, rules: rule('npm test', 'allow') },
    ],
    [
      'full access and one that is granted in the sandbox asks',
      'npm test',
      'ask',
      { policy: open, rules: withGrantedPrefixes(noRules, [['npm', 'test']]) },
    ],
    [
      'granular without sandbox refuses danger',
      'rm -rf x',
      'refuse',
      { approval: granular({ sandbox: false }) },
    ],
    [
      'granular without sandbox refuses to leave',
      'npm test',
      'refuse',
      { approval: granular({ sandbox: false }), requested: escalated },
    ],
    [
      'granular without sandbox still asks for more',
      'npm test',
      'ask path',
      { approval: granular({ sandbox: false }), requested: path },
    ],
    [
      'granular without rules refuses prompts',
      'git push',
      'refuse',
      { approval: granular({ rules: false }), rules: rule('git push', 'prompt') },
    ],
    [
      'granular without permissions refuses more',
      'npm test',
      'refuse',
      { approval: granular({ permissions: false }), requested: path },
    ],
    [
      'rules that cannot be read ask about everything that is not harmless',
      'npm test',
      'ask',
      {
        rules: {
          ...noRules,
          problems: [{ source: 'workspace', place: 'x:1:1', message: 'x:1:1 is wrong.' }],
        },
      },
    ],
  ];
  for (const [name, cmd, expected, input] of rows) {
    it(name, async () => {
      const {
        rules = noRules,
        requested = noPermissions,
        approval = defaultApproval,
        policy = confined,
      } = input;
      const judgement = await judgeCommand(['bash', '-c', cmd], rules, parse);
      assert.equal(words(decide({ judgement, requested, approval, policy, root })), expected);
    });
  }

  for (const [name, cmd, requested, policy, expected] of [
    [
      'leaving',
      'git push',
      escalated,
      confined,
      /^Run without a sandbox\? .*“git push”.*leave the sandbox of app/,
    ],
    ['more', 'git push', path, confined, /^Allow more for this command\? .*“git push”.*writing to \/data/],
    ['full access', 'git push', noPermissions, open, /^Run without a sandbox\? .*“git push”.*full access/],
    ['danger', 'rm -rf x', escalated, confined, /^Run without a sandbox\? .*rm -f.*leave the sandbox of app/],
  ] as const) {
    it(`tells all that a yes means, also where a rule or list asks: ${name}`, async () => {
      const rules = rule('git push', 'prompt');
      const judgement = await judgeCommand(['bash', '-c', cmd], rules, parse);
      const decision = decide({ judgement, requested, approval: defaultApproval, policy, root });
      assert.ok(decision.kind === 'ask');
      assert.match(`${decision.question.title} ${decision.question.reason}`, expected);
    });
  }

  it('says of a refusal which switch it was', async () => {
    const judgement = await judgeCommand(['bash', '-c', 'rm -rf x'], noRules, parse);
    const decision = decide({
      judgement,
      requested: noPermissions,
      approval: granular({ sandbox: false }),
      policy: confined,
      root,
    });
    assert.ok(decision.kind === 'refuse');
    assert.match(decision.message, /cordon\.approvals\.granular\.sandbox is off\)\. It removes files/);
  });
});
