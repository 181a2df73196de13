import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { policyOf } from '../harness/policyOf.ts';
import type { Edit } from './harness.ts';
import { Arena } from './harness.ts';

describe('More paths than one start can hide', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  const command = (arena: Arena) => ({ argv: ['/bin/ls', 'keys'], cwd: arena.root, env: {}, tty: false });
  const hiding = ({ root }: Arena, glob: string) =>
    policyOf(root, { hidden: [{ folder: root, glob, source: 'user' }] });
  function withKeys(count: number, options: ConstructorParameters<typeof Arena>[1] = {}): Arena {
    const arena = new Arena({}, options);
    const folder = join(arena.root, 'keys');
    mkdirSync(folder);
    for (let number = 0; number < count; number++) {
      writeFileSync(join(folder, `${number}.pem`), 'secret');
    }
    return arena;
  }

  for (const [road, count, reason, options] of [
    [
      'bubblewrap makes the mounts',
      3200,
      /too many for one start: \d+ arguments, and bubblewrap takes 9000/,
      { mountedBy: 'bubblewrap' },
    ],
    [
      'the companion program makes them',
      4200,
      /too many for one start: \d+ mounts, and a sandbox takes 4096/,
      {},
    ],
  ] as const) {
    it(`are refused before anything starts, and one folder around them is hidden, where ${road}`, async function () {
      if (options.mountedBy === undefined && process.env['CORDON_MOUNTED_BY'] === 'bubblewrap') this.skip();
      const arena = withKeys(count, options);
      try {
        const refused = await arena.manager.transform(hiding(arena, '**/*.pem'), command(arena));
        assert.ok(!refused.ok);
        assert.equal(refused.error.kind, 'clause-unenforceable');
        assert.match(refused.error.message, reason);
        assert.match(refused.error.hint, /cordon\.sandbox\.files/);
        assert.equal((await arena.run(command(arena).argv, {}, hiding(arena, 'keys'))).stdout, '');
      } finally {
        arena.dispose();
      }
    });
  }

  it('is a number of bubblewrap’s, not of ours', async () => {
    const arena = withKeys(0);
    try {
      const without: Edit = (argv) =>
        argv.flatMap((word) => (word === '--chdir' ? [...surplus, word] : [word]));
      assert.match(
        (await arena.run(['/bin/true'], { without }, policyOf(arena.root))).stderr,
        /maximum number of arguments 9000/,
      );
    } finally {
      arena.dispose();
    }
  });
});

const surplus = Array.from({ length: 3000 }, () => ['--ro-bind', '/dev/null', '/dev/null']).flat();
