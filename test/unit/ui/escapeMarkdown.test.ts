import assert from 'node:assert/strict';
import { escapeMarkdown } from '../../../src/ui/tools/escapeMarkdown.ts';

describe('escapeMarkdown', () => {
  const cases: readonly (readonly [text: string, markdown: string])[] = [
    ['npm test', 'npm test'],
    ['*a* _b_ `c`', '\\*a\\* \\_b\\_ \\`c\\`'],
    ['echo "$A" &amp; <b>', 'echo "\\$A" \\&amp; \\<b\\>'],
    ['[x](https://y.z)', '\\[x\\]\\(https\\://y\\.z\\)'],
    ['a\\b', 'a\\\\b'],
    ['1. one\n# two', '1\\. one\n\n\\# two'],
    ['if true\n    then', 'if true\n\n&nbsp; &nbsp; then'],
    ['a   b', 'a&nbsp; &nbsp;b'],
    [`${'x'.repeat(45)} y`, `${'x'.repeat(20)}\u200b${'x'.repeat(20)}\u200bxxxxx y`],
    ['größe 日本', 'größe 日本'],
  ];
  for (const [text, markdown] of cases) {
    it(`keeps ${JSON.stringify(text)} as it is`, () => {
      assert.equal(escapeMarkdown(text), markdown);
    });
  }
});
