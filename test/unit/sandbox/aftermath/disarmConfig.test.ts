import assert from 'node:assert/strict';
import { disarmConfig } from '../../../../src/sandbox/aftermath/disarmConfig.ts';
import { parseGitConfig } from '../../../../src/sandbox/git/configFile.ts';

describe('disarmConfig()', () => {
  it('leaves what runs nothing as it is', () => {
    assert.equal(disarmConfig('[core]\n\tbare = false\n'), undefined);
  });

  it('makes comments of variables that run something, and of nothing else', () => {
    const text =
      '[core]\n\tbare = false\n\tfsmonitor = a \\\n b\n[x] y = z\n[diff] external = e\n\trenames = true';
    assert.deepEqual(disarmConfig(text), {
      text: '[core]\n\tbare = false\n\t# disarmed by Cordon: fsmonitor = a \\\n# disarmed by Cordon:  b\n[x] y = z\n[diff] # disarmed by Cordon: external = e\n\trenames = true',
      keys: ['core.fsmonitor', 'diff.external'],
    });
  });

  it('gives a file that disarming again does not change', () => {
    const once = disarmConfig(
      '[core] fsmonitor = "a;b" # c\n[include]\r\npath = x\r\n[core]\r\npager = "p\\\r\nq"\r\n',
    );
    assert.ok(once !== undefined && once !== 'unreadable');
    assert.equal(disarmConfig(once.text), undefined);
    assert.deepEqual(parseGitConfig(once.text), []);
  });

  it('says when git could not read it', () => {
    assert.equal(disarmConfig('[core\nfsmonitor = x'), 'unreadable');
  });
});
