import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AnswerBudget } from '../../../src/runtime/execServer/server/answerBudget.ts';
import { createFileService } from '../../../src/runtime/execServer/services/files/fileService.ts';
import { httpService } from '../../../src/runtime/execServer/services/http/httpService.ts';
import { ServiceBench } from '../../harness/servedConnection.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

const all = 1024 * 1024 * 1024;

describe('Answers that may be large', () => {
  let folder: TemporaryFolder;
  let answers: AnswerBudget;
  const benches: ServiceBench[] = [];
  const never = new AbortController().signal;

  before(async () => {
    folder = await createTemporaryFolder('listings');
    for (const [name, count] of [
      ['small', 10],
      ['large', 4_000],
    ] as const) {
      mkdirSync(join(folder.path, name));
      for (let number = 0; number < count; number++) {
        writeFileSync(join(folder.path, name, `${'n'.repeat(100)}${number}`), '');
      }
    }
  });
  beforeEach(() => {
    answers = new AnswerBudget(all);
  });
  afterEach(() => benches.splice(0).forEach((bench) => bench.close()));
  after(() => folder.dispose());

  /** Expects that it waits for as long as there is no room. */
  async function whenThereIsRoom<T>(answer: () => Promise<T>): Promise<T> {
    const room = await answers.take(all, never);
    let isOver = false;
    const answered = answer().finally(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(isOver, false);
    room.dispose();
    return answered;
  }

  describe('about folders', () => {
    const path = (name: string): string => pathToFileURL(join(folder.path, name)).href;
    const options = {
      ...{ maxDepth: 1, maxDirectories: 10, maxEntries: 50_000 },
      followDirectorySymlinks: false,
    };
    let bench: ServiceBench;
    beforeEach(() => {
      const nothing = (): never => assert.fail('nothing is confined here');
      bench = new ServiceBench(
        createFileService({ answers, confine: nothing, surroundings: nothing, workerArgv: [] }),
      );
      benches.push(bench);
    });

    it('wait for room, and small ones do not', async () => {
      const room = await answers.take(all, never);
      assert.equal((await bench.call('fs/readDirectory', { path: path('small') })).entries.length, 10);
      assert.equal((await bench.call('fs/walk', { path: path('small'), options })).entries.length, 10);
      room.dispose();
      const listed = await whenThereIsRoom(() => bench.call('fs/readDirectory', { path: path('large') }));
      assert.equal(listed.entries.length, 4_000);
      const walked = await whenThereIsRoom(() => bench.call('fs/walk', { path: path('large'), options }));
      assert.equal(walked.entries.length, 4_000);
    });

    it('have the first names of a walk that is cut, whatever their order in the folder', async () => {
      const cut = { path: path('large'), options: { ...options, maxEntries: 3 } };
      const { entries, truncated } = await bench.call('fs/walk', cut);
      assert.deepEqual(
        entries.map((entry) => entry.path.slice(-3)),
        ['nn0', 'nn1', 'n10'],
      );
      assert.equal(truncated, true);
    });
  });

  describe('of http', () => {
    let server: Server;
    let size: number;
    let bench: ServiceBench;
    let url: string;
    before(async () => {
      server = createServer((_, response) => response.end(Buffer.alloc(size)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    });
    beforeEach(() => {
      bench = new ServiceBench(httpService({ answers, upstream: () => undefined }));
      benches.push(bench);
    });
    after(() => {
      server.closeAllConnections();
      server.close();
    });
    const ask = async (): Promise<number> => {
      const { bodyBase64 } = await bench.call('http/request', { method: 'GET', url, requestId: 'r' });
      return Buffer.from(bodyBase64, 'base64').length;
    };

    it('wait for room, and small ones do not', async () => {
      size = 100_000;
      const room = await answers.take(all, never);
      assert.equal(await ask(), size);
      room.dispose();
      size = 8_000_000;
      assert.equal(await whenThereIsRoom(ask), size);
    });

    it('are streamed to a client up to a number at once', async () => {
      size = 8_000_000;
      bench.hold();
      const stream = (requestId: string) =>
        bench.call('http/request', { method: 'GET', url, requestId, streamResponse: true });
      await Promise.all(Array.from({ length: 256 }, (_, number) => stream(String(number))));
      await assert.rejects(stream('one more'), /256 bodies are on their way to this client already/);
    });
  });
});
