import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sshArguments } from '../../../../src/runtime/environments/ssh/sshCommand.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

const given = {
  forwardagent: 'yes',
  forwardx11: 'yes',
  gssapidelegatecredentials: 'yes',
  permitlocalcommand: 'yes',
  tunnel: 'point-to-point',
};
const taken = {
  forwardagent: 'no',
  forwardx11: 'no',
  gssapidelegatecredentials: 'no',
  permitlocalcommand: 'no',
  tunnel: 'false',
};

describe('what ssh takes along to a host', () => {
  let folder: TemporaryFolder;
  before(async function () {
    if (spawnSync('ssh', ['-V']).status !== 0) this.skip();
    folder = await createTemporaryFolder('ssh');
    const lines = [...Object.entries(given), ['LocalForward', '4711 localhost:22']];
    writeFileSync(join(folder.path, 'config'), lines.map((words) => `${words.join(' ')}\n`).join(''));
  });
  after(() => folder?.dispose());

  /** As ssh understands its configuration and these arguments. */
  const understood = (args: readonly string[]): ReadonlyMap<string, string> => {
    const { stdout } = spawnSync('ssh', ['-F', join(folder.path, 'config'), '-G', ...args], {
      encoding: 'utf8',
    });
    return new Map(stdout.split('\n').map((line) => line.split(/ (.*)/, 2) as [string, string]));
  };
  const wordsOf = (args: readonly string[]): object => {
    const all = understood(args);
    return Object.fromEntries(
      Object.keys(given)
        .filter((name) => all.has(name))
        .map((name) => [name, all.get(name)]),
    );
  };

  it('is nothing, whatever its configuration says', () => {
    const known = wordsOf(['host']);
    const expected = (words: typeof given): object =>
      Object.fromEntries(Object.entries(words).filter(([name]) => name in known));
    assert.deepEqual(known, expected(given));
    assert.deepEqual(wordsOf(sshArguments('host', 1)), expected(taken));
    assert.ok(understood(['host']).has('localforward'));
    assert.equal(understood(sshArguments('host', 1)).get('clearallforwardings'), 'yes');
  });
});
