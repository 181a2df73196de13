import assert from 'node:assert/strict';
import { oneLine, visibleText, withoutIcons, withoutLinks } from '../../../src/ui/oneLine.ts';

describe('the text of a command', () => {
  const cases: readonly (readonly [text: string, shown: string])[] = [
    ['npm test', 'npm test'],
    ['echo hi\nrm -rf ~', 'echo hi ↵ rm -rf ~'],
    ['echo hi\r\nrm -rf ~', 'echo hi ↵ rm -rf ~'],
    ['a\tb', 'a b'],
    ['echo \u202e# safe', 'echo \\u{202e}# safe'],
    ['git\u200b push', 'git\\u{200b} push'],
    ['\u001b[8mhidden', '\\u{1b}[8mhidden'],
    ['rm \u3164', 'rm \\u{3164}'],
    ['printf "\u{e0041}"', 'printf "\\u{e0041}"'],
    ['écrire 文件 🙂', 'écrire 文件 🙂'],
  ];
  for (const [text, shown] of cases) {
    it(`${JSON.stringify(text)} is shown as ${JSON.stringify(shown)}`, () => {
      assert.deepEqual(oneLine(text, 100), { text: shown, isWhole: true });
    });
  }

  it('tells when its end is cut off', () => {
    assert.deepEqual(oneLine('🙂'.repeat(10), 10), { text: '🙂'.repeat(10), isWhole: true });
    assert.deepEqual(oneLine('🙂'.repeat(11), 10), { text: `${'🙂'.repeat(9)}…`, isWhole: false });
  });

  it('keeps its lines where there is room for them', () => {
    assert.equal(visibleText('if x\r\n\tthen \u202ey'), 'if x\n\tthen \\u{202e}y');
  });

  it('makes neither icons nor links', () => {
    assert.doesNotMatch(withoutIcons('echo $(trash) $(x)'), /\$\(/);
    assert.doesNotMatch(withoutLinks('[a](command:x) [b](https://example.org)'), /\]\(/);
  });
});
