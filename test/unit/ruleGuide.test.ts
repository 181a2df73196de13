import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBashParser } from '../../src/sandbox/commands/bashParser.ts';
import { judgeCommand } from '../../src/sandbox/rules/judgeCommand.ts';
import type { RuleSet } from '../../src/sandbox/rules/rule.ts';
import { readRuleSettings } from '../../src/sandbox/rules/ruleSettings.ts';
import { rulesFrom } from '../harness/rules.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'rules.md'), 'utf8');

/** Per recipe, command lines and what it makes of them. */
const checks: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  'Let tests run without a question': {
    'npm test': 'allow inside',
    'npm run lint -- --fix': 'allow inside',
    'npm run deploy': undefined,
  },
  'Ask before anything is published': {
    'git push --force': 'prompt',
    'cd x && pnpm publish': 'prompt',
    'npm pack': undefined,
  },
  'Forbid a tool, and say what to use instead': {
    'terraform apply': 'forbidden',
    'sudo terraform destroy': 'forbidden',
    'terraform plan': undefined,
  },
  'Let one command out of the sandbox': {
    'docker compose up -d': 'allow outside',
    'docker compose down': undefined,
  },
  'Rules that a project brings along': {
    'make release': 'forbidden',
    'psql -c "select 1"': 'prompt',
    make: undefined,
  },
};

describe('docs/rules.md', () => {
  const recipes = page
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [, language, text = ''] = /```(\w+)\n(.*?)\n```/s.exec(section) ?? [];
      return { title: section.split('\n')[0] ?? '', language, text };
    });
  // That recipe names a file of another machine.
  const ours = recipes.filter(({ title }) => title !== 'Use the rules that you have for Codex');

  it('has recipes that are all checked here', () => {
    assert.deepEqual(
      ours.map(({ title }) => title),
      Object.keys(checks),
    );
  });

  it('shows a file that can be read', () => {
    const [, text = ''] = /## Files.*?```python\n(.*?)\n```/s.exec(page) ?? [];
    const { prefixes, hostExecutables, networks } = rulesFrom(text);
    assert.deepEqual([prefixes.length, hostExecutables.size, networks.length], [1, 1, 1]);
  });

  for (const { title, language, text } of ours) {
    it(title, async () => {
      const rules = language === 'json' ? settingsFrom(text) : rulesFrom(text, 'workspace');
      const parse = createBashParser();
      for (const [line, expected] of Object.entries(checks[title] ?? {})) {
        const { decision, runs } = await judgeCommand(['bash', '-lc', line], rules, parse);
        assert.equal(runs === undefined ? decision : `${decision} ${runs}`, expected, line);
      }
    });
  }
});

function settingsFrom(json: string): RuleSet {
  const settings = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const read = readRuleSettings(settings['cordon.rules.commands'], { source: 'user', words: 'the page' });
  assert.ok(read.ok, read.ok ? '' : read.error.message);
  return read.value;
}
