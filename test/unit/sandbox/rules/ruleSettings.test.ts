import assert from 'node:assert/strict';
import { readRuleSettings } from '../../../../src/sandbox/rules/ruleSettings.ts';

const owner = { source: 'user', words: 'the user settings' } as const;

describe('readRuleSettings', () => {
  it('reads rules, inside the sandbox where nothing else is said', () => {
    const read = readRuleSettings(
      [
        {
          pattern: ['npm', ['test', 'run']],
          decision: 'allow',
          match: ['npm test x', ['npm', 'run']],
          notMatch: ['npm publish'],
        },
        { pattern: ['git', 'push'], decision: 'allow', sandbox: 'outside', justification: 'trusted' },
      ],
      owner,
    );
    assert.ok(read.ok);
    assert.deepEqual(read.value.prefixes, [
      {
        pattern: [['npm'], ['test', 'run']],
        decision: 'allow',
        runs: 'inside',
        origin: { source: 'user', place: 'cordon.rules.commands[0] in the user settings' },
      },
      {
        pattern: [['git'], ['push']],
        decision: 'allow',
        runs: 'outside',
        justification: 'trusted',
        origin: { source: 'user', place: 'cordon.rules.commands[1] in the user settings' },
      },
    ]);
  });

  it('takes none for no rules', () => {
    const read = readRuleSettings(undefined, owner);
    assert.ok(read.ok && read.value.prefixes.length === 0);
  });

  const rule = { pattern: ['git'], decision: 'allow' };
  const errors: readonly (readonly [value: unknown, message: string])[] = [
    [{}, ' is {} in the user settings, but must be a list.'],
    [['git'], '[0] is "git" in the user settings, but must be an object.'],
    [
      [{ pattern: ['a'] }],
      '[0].decision is absent in the user settings, but must be one of "allow", "prompt", "forbidden".',
    ],
    [
      [{ ...rule, decision: 'ask' }],
      '[0].decision is "ask" in the user settings, but must be one of "allow", "prompt", "forbidden".',
    ],
    [[{ decision: 'allow' }], '[0].pattern is absent in the user settings, but must be a list.'],
    [
      [rule, { ...rule, pattern: [] }],
      '[1].pattern is [] in the user settings, but must be a list with at least one element.',
    ],
    [
      [{ ...rule, pattern: ['git', []] }],
      '[0].pattern[1] is [] in the user settings, but must be a list with at least one element.',
    ],
    [
      [{ ...rule, pattern: ['git', 3] }],
      '[0].pattern[1] is 3 in the user settings, but must be a text or a list of texts with at least one.',
    ],
    [
      [{ ...rule, sandbox: 'none' }],
      '[0].sandbox is "none" in the user settings, but must be one of "inside", "outside".',
    ],
    [
      [{ ...rule, justification: ' ' }],
      '[0].justification is " " in the user settings, but must be a text that is not blank.',
    ],
    [
      [{ ...rule, not_match: [] }],
      '[0] is {"pattern":["git"],"decision":"allow","not_match":[]} in the user settings, but must be without the unknown "not_match".',
    ],
    [[{ ...rule, match: 'git' }], '[0].match is "git" in the user settings, but must be a list.'],
    [
      [{ ...rule, match: ["git '"] }],
      `[0].match[0] is "git '" in the user settings, but must be a command line with a command, in which each quote ends.`,
    ],
    [
      [
        { ...rule, match: ['git', 'hg x'] },
        { pattern: ['hg'], decision: 'prompt' },
      ],
      '[0].match[1] is the example `hg x`, which the rule `git` does not match (the rule `hg` of cordon.rules.commands[1] in the user settings does) in the user settings, but must be a command that begins with the words of the rule `git`.',
    ],
    [
      [{ ...rule, notMatch: ['git x'] }],
      '[0].notMatch[0] is the example `git x`, which the rule `git` matches in the user settings, but must be a command that the rule `git` does not match.',
    ],
  ];
  for (const [value, message] of errors) {
    it(`refuses ${JSON.stringify(value)}`, () => {
      const read = readRuleSettings(value, owner);
      assert.ok(!read.ok);
      assert.equal(read.error.message, `cordon.rules.commands${message}`);
    });
  }
});
