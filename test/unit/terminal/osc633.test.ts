import assert from 'node:assert/strict';
import { commandFinished, commandStarted, escapeValue } from '../../../src/terminal/osc633.ts';

describe('escapeValue()', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['npm test', 'npm test'],
    ['a;b', 'a\\x3bb'],
    ['a\\b', 'a\\\\b'],
    ['a\nb\tc', 'a\\x0ab\\x09c'],
    ['\x1b]0;x\x07', '\\x1b]0\\x3bx\\x07'],
    ['\x9d633\x9c', '\\x9d633\\x9c'],
    ['größe 🙂', 'größe 🙂'],
  ];
  for (const [plain, escaped] of cases) {
    it(`writes ${JSON.stringify(plain)} as ${JSON.stringify(escaped)}`, () => {
      assert.equal(escapeValue(plain), escaped);
    });
  }
});

describe('commandStarted()', () => {
  const start = { cwd: '/w/a;b', commandLine: 'echo 1; echo 2', nonce: 'n-1' };

  it('writes folder, prompt, command line and start in the order that the editor expects', () => {
    const marks = [...commandStarted(start).matchAll(/\x1b\]633;([^\x07]*)\x07/g)].map((match) => match[1]);
    assert.deepEqual(marks, ['P;Cwd=/w/a\\x3bb', 'A', 'B', 'E;echo 1\\x3b echo 2;n-1', 'C']);
  });

  it('shows the command line without letting it draw on the terminal', () => {
    const text = commandStarted({ ...start, commandLine: "printf '\x1b]633;D;0\x07'" });
    assert.ok(!text.includes('\x1b]633;D'));
    assert.ok(text.includes("printf '\ufffd]633;D;0\ufffd'"));
  });

  it('returns the carriage for each line of the command line', () => {
    assert.ok(commandStarted({ ...start, commandLine: 'a\nb' }).includes('a\r\nb'));
  });
});

describe('commandFinished()', () => {
  it('carries the exit code when there is one', () => {
    assert.equal(commandFinished(3), '\x1b]633;D;3\x07');
    assert.equal(commandFinished(undefined), '\x1b]633;D\x07');
  });
});
