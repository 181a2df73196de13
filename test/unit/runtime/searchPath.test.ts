import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { searchPathVariables, withSearchPath } from '../../../src/runtime/searchPath.ts';

describe('searchPathVariables()', () => {
  for (const [path, expected] of [
    ['/usr/bin:/bin', '/opt/it:/usr/bin:/bin'],
    ['', '/opt/it'],
    [undefined, undefined],
  ] as const) {
    it(`makes ${expected} of ${path}, and names what runs the programs`, () => {
      const variables = searchPathVariables(path, '/opt/it');
      assert.equal(variables['PATH'], expected);
      assert.equal(variables['CORDON_NODE'], process.execPath);
    });
  }
});

describe('withSearchPath()', () => {
  const hostile = `/opt/it's "$(touch x)" \\here`;

  for (const shell of ['/bin/sh', '/bin/bash']) {
    for (const [path, expected] of [
      ['/usr/bin:/b in', `${hostile}:/usr/bin:/b in`],
      ['', hostile],
    ] as const) {
      it(`exports ${JSON.stringify(expected)} in ${shell}, whatever the folder is called`, () => {
        const script = withSearchPath(shell, hostile, `PATH=$PATH:/usr/bin; printenv PATH`);
        const { stdout, stderr } = spawnSync(shell, ['-c', script], {
          env: { PATH: path },
          // With a socket as stdin, bash would take the person's start-up file for that of a remote shell.
          stdio: ['ignore', 'pipe', 'pipe'],
          encoding: 'utf8',
        });
        assert.equal(`${stdout}${stderr}`, `${expected}:/usr/bin\n`);
      });
    }
  }

  it('keeps the script on its lines', () => {
    for (const shell of ['bash', 'zsh', 'sh', 'dash', 'ksh', 'fish']) {
      const script = withSearchPath(`/bin/${shell}`, '/opt/it', 'a\nb');
      assert.match(script, /^\S.*\/opt\/it.*; a\nb$/);
    }
  });

  it('speaks to fish in its own words', () => {
    assert.equal(withSearchPath('/usr/bin/fish', `/it's \\`, 'ls'), `set -gx PATH '/it\\'s \\\\' $PATH; ls`);
  });

  it('leaves shells alone that it does not know', () => {
    assert.equal(withSearchPath('/usr/bin/nu', '/opt/it', 'ls'), 'ls');
  });
});
