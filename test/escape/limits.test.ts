import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findControlGroups } from '../../src/sandbox/linux/controlGroups.ts';
import type { ResourceLimits } from '../../src/sandbox/policy/limits.ts';
import type { Edit, Outcome } from './harness.ts';
import { waitFor } from '../harness/waitFor.ts';
import { Arena, arenaOf, compileAttack, finished, isRoot, nodePath, start } from './harness.ts';

const groups = process.platform === 'linux' ? findControlGroups() : {};

describe('A command cannot use up', function () {
  let arena: Arena;
  let attack: string;
  before(function () {
    if (process.platform !== 'linux') this.skip();
    arena = new Arena();
    attack = compileAttack('attack', arena.outside);
  });
  after(() => arena?.dispose());

  const run = (argv: readonly string[], limits: ResourceLimits, without?: Edit): Promise<Outcome> =>
    arena.run(argv, without === undefined ? {} : { without }, { ...arena.policy(), limits });

  /** Takes all limits away: of the process and of its group. */
  const withoutLimits: Edit = (argv) => {
    const words = [...argv];
    for (const [option, length] of [
      ['--limit', 3],
      ['--group', 4],
      ['--grouped', 1],
    ] as const) {
      for (let at = words.indexOf(option); at >= 0; at = words.indexOf(option)) {
        words.splice(at, length);
      }
    }
    assert.notEqual(words.length, argv.length, 'there was no limit');
    return words;
  };

  it('the number of processes', async function () {
    if (isRoot && groups.processes === undefined) this.skip();
    const limits = { processes: 64 };
    const reached = Number((await run([attack, 'fork-bomb'], limits)).stdout);
    assert.ok(reached > 30 && reached <= 64, String(reached));
    assert.equal((await run([attack, 'fork-bomb'], limits, withoutLimits)).stdout, '200\n');
  });

  it('the number of processes, as an ordinary user without control groups', async function () {
    if (!isRoot) this.skip();
    const theirs = await arenaOf(65534);
    try {
      const bomb = compileAttack('attack', theirs.outside);
      const launch = await theirs.launch([bomb, 'fork-bomb'], {}, { ...theirs.policy(), limits: {} });
      const at = launch.argv.indexOf('--seccomp');
      const limited = launch.argv.toSpliced(at, 0, '--limit', 'processes', '64');
      const as = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
      const reached = await finished(start([...as, ...limited], launch.cwd, launch.env));
      assert.ok(Number(reached.stdout) > 30 && Number(reached.stdout) <= 64, reached.stdout + reached.stderr);
      const free = await finished(start([...as, ...launch.argv], launch.cwd, launch.env));
      assert.equal(free.stdout, '200\n');
      await launch.release();
    } finally {
      theirs.dispose();
    }
  });

  it('memory, in one process', async () => {
    const limits = { memoryMiB: 32 };
    assert.equal((await run([attack, 'memory', '1'], limits)).stdout, '0\n');
    assert.equal((await run([attack, 'memory', '1'], limits, withoutLimits)).stdout, '1\n');
  });

  it('memory, in several processes together', async function () {
    if (groups.memory === undefined) this.skip();
    const limits = { memoryMiB: 96 };
    const { stdout } = await run([attack, 'memory', '4'], limits);
    assert.ok(stdout === '' || Number(stdout) < 4, stdout);
    assert.equal((await run([attack, 'memory', '4'], limits, withoutLimits)).stdout, '4\n');
  });

  it('the disk, with one file', async () => {
    const limits = { fileSizeMiB: 1 };
    const argv = ['head', '-c', '3145728', '/dev/zero'];
    const script = ['/bin/sh', '-c', `${argv.join(' ')} > big`];
    assert.equal((await run(script, limits)).exitCode, 153);
    assert.equal(statSync(join(arena.root, 'big')).size, 1024 * 1024);
    assert.equal((await run(script, limits, withoutLimits)).exitCode, 0);
    assert.equal(statSync(join(arena.root, 'big')).size, 3 * 1024 * 1024);
  });

  it('the processor', async () => {
    const limits = { cpuSeconds: 1 };
    const script =
      'while (process.cpuUsage().user + process.cpuUsage().system < 2_500_000); console.log("done")';
    const { exitCode, stdout } = await run([nodePath, '-e', script], limits);
    assert.deepEqual([exitCode, stdout], [152, '']);
    assert.equal((await run([nodePath, '-e', script], limits, withoutLimits)).stdout, 'done\n');
  });

  it('with core dumps, whatever the policy says', async () => {
    assert.equal((await arena.shell('ulimit -Hc')).stdout, '0\n');
  });

  it('and no control group is left', async function () {
    const folders = [groups.processes, groups.memory].flatMap((place) => (place ? [place.folder] : []));
    if (folders.length === 0) this.skip();
    const groupsIn = (folder: string): string[] =>
      readdirSync(folder).filter((name) => name.startsWith('cordon-'));
    // Other runs on this machine have theirs.
    const before = new Set(folders.flatMap(groupsIn));
    await run([attack, 'fork-bomb'], { processes: 64, memoryMiB: 512 });
    for (const folder of folders) {
      assert.ok(existsSync(folder));
      await waitFor('the end of the group', () => groupsIn(folder).every((name) => before.has(name)));
    }
  });
});
