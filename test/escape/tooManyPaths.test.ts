import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { policyOf } from '../harness/policyOf.ts';
import { Arena } from './harness.ts';

describe('More paths than one start can hide', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('are refused before anything starts, and one folder around them is hidden', async () => {
    const arena = new Arena();
    try {
      const folder = join(arena.root, 'keys');
      mkdirSync(folder);
      for (let count = 0; count < 3200; count++) {
        writeFileSync(join(folder, `${count}.pem`), 'secret');
      }
      const command = { argv: ['/bin/ls', 'keys'], cwd: arena.root, env: {}, tty: false };
      const hiding = (glob: string) =>
        policyOf(arena.root, { hidden: [{ folder: arena.root, glob, source: 'user' }] });
      const refused = await arena.manager.transform(hiding('**/*.pem'), command);
      assert.ok(!refused.ok);
      assert.equal(refused.error.kind, 'clause-unenforceable');
      assert.match(refused.error.message, /too many for one start: \d+ arguments, and bubblewrap takes 9000/);
      assert.match(refused.error.hint, /cordon\.sandbox\.files/);
      // The number is bubblewrap's, not ours.
      const raw = await arena.run(
        ['/bin/true'],
        { without: (argv) => argv.flatMap((word) => (word === '--chdir' ? [...surplus, word] : [word])) },
        policyOf(arena.root),
      );
      assert.match(raw.stderr, /maximum number of arguments 9000/);
      assert.equal((await arena.run(command.argv, {}, hiding('keys'))).stdout, '');
    } finally {
      arena.dispose();
    }
  });
});

const surplus = Array.from({ length: 3000 }, () => ['--ro-bind', '/dev/null', '/dev/null']).flat();
