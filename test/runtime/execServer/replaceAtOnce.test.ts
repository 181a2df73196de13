import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  mostAtOnce,
  replaceAtOnce,
} from '../../../src/runtime/execServer/services/files/methods/replaceAtOnce.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

const bytes = Buffer.from('new');

describe('a small file that is written at once', function () {
  let folder: TemporaryFolder;
  const at = (name: string): string => join(folder.path, name);

  before(async function () {
    if (process.platform !== 'linux') {
      this.skip();
    }
    folder = await createTemporaryFolder('at-once');
    // Nothing is known of a folder at first.
    assert.equal(replaceAtOnce(at('first'), bytes), false);
    assert.equal(existsSync(at('first')), false);
    while (!replaceAtOnce(at('first'), bytes)) {
      await delay(5);
    }
  });

  after(() => folder.dispose());

  it('is made, or replaced as a whole', () => {
    assert.equal(readFileSync(at('first'), 'utf8'), 'new');
    assert.equal(replaceAtOnce(at('first'), Buffer.from('newer')), true);
    assert.equal(readFileSync(at('first'), 'utf8'), 'newer');
    writeFileSync(at('old'), 'what was there before');
    chmodSync(at('old'), 0o640);
    assert.equal(replaceAtOnce(at('old'), bytes), true);
    assert.equal(readFileSync(at('old'), 'utf8'), 'new');
    assert.equal(statSync(at('old')).mode & 0o777, 0o640);
    assert.equal(replaceAtOnce(at('old'), new Uint8Array()), true);
    assert.equal(readFileSync(at('old'), 'utf8'), '');
  });

  it('is never empty for whoever looks at it meanwhile', async () => {
    writeFileSync(at('watched'), 'x'.repeat(1_000));
    const sizes = new Int32Array(new SharedArrayBuffer(12));
    const watcher = new Worker(
      `const { workerData: { path, sizes } } = require('node:worker_threads');
      const { statSync } = require('node:fs');
      while (sizes[0] === 0) {
        sizes[statSync(path).size === 1_000 ? 1 : 2]++;
      }`,
      { eval: true, workerData: { path: at('watched'), sizes } },
    );
    while (Atomics.load(sizes, 1) === 0) {
      await delay(1);
    }
    for (let number = 0; number < 2_000; number++) {
      assert.equal(replaceAtOnce(at('watched'), Buffer.alloc(1_000, number)), true);
    }
    Atomics.store(sizes, 0, 1);
    await once(watcher, 'exit');
    assert.equal(sizes[2], 0);
  });

  it('is left to the usual way when anybody might have to wait', () => {
    execFileSync('mkfifo', [at('pipe')]);
    assert.equal(replaceAtOnce(at('pipe'), bytes), false);
    assert.equal(statSync(at('pipe')).isFIFO(), true);
    assert.equal(replaceAtOnce('/proc/self/comm', bytes), false);
    assert.equal(replaceAtOnce(at('large'), Buffer.alloc(mostAtOnce + 1)), false);
    assert.equal(existsSync(at('large')), false);
  });

  it('is left to the usual way when it is no plain file', () => {
    writeFileSync(at('target'), 'old');
    symlinkSync('target', at('link'));
    symlinkSync('nowhere', at('dangling'));
    for (const name of ['link', 'dangling', '.', 'first/under', 'missing/file']) {
      assert.equal(replaceAtOnce(at(name), bytes), false, name);
    }
    assert.equal(readFileSync(at('target'), 'utf8'), 'old');
    assert.equal(existsSync(at('nowhere')), false);
  });
});
