import assert from 'node:assert/strict';
import { readRuleFile } from '../../src/sandbox/rules/file/readRuleFile.ts';
import type { RuleSet, RuleSource } from '../../src/sandbox/rules/rule.ts';

/** The rules in the text of a file, which has to be right. */
export function rulesFrom(text: string, source: RuleSource = 'user'): RuleSet {
  const read = readRuleFile(text, { path: 'test.rules', source });
  assert.ok(read.ok, read.ok ? '' : read.error.message);
  return { ...read.value, problems: [] };
}
