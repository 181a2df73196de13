import assert from 'node:assert/strict';
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TestServer } from '../../harness/execServer.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';

const mebibyte = 1024 * 1024;

describe('The memory of an exec-server', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  before(async () => {
    folder = await createTemporaryFolder('memory');
    // A quarter of what the answers would take that are asked for at once.
    const env = { ...process.env, NODE_OPTIONS: '--max-old-space-size=1024' };
    server = await TestServer.start(undefined, env);
  });
  after(async () => {
    await server.stop();
    await folder.dispose();
  });

  function sparse(name: string, bytes: number): string {
    const path = join(folder.path, name);
    writeFileSync(path, '');
    truncateSync(path, bytes);
    return pathToFileURL(path).href;
  }

  it('holds many large files that nobody takes, while blocks and small files are served', async () => {
    const [greedy, other] = [await server.connect(), await server.connect()];
    const large = sparse('large', 48 * mebibyte);
    greedy.transport.pause();
    for (let count = 0; count < 64; count++) {
      void greedy.call('fs/readFile', { path: large });
    }
    await waitFor('the first answers', () => server.memory > 300);
    const middle = sparse('middle', 100 * mebibyte);
    const waiting = { isOver: false };
    // More than what the others leave.
    const whole = other.ok('fs/readFile', { path: middle }).finally(() => (waiting.isOver = true));
    // As many as may be worked on at once, and more.
    for (let count = 0; count < 100; count++) {
      void other.call('fs/readFile', { path: large });
    }
    await other.ok('fs/open', { handleId: 'h', path: middle });
    for (let offset = 0; offset < 4 * mebibyte; offset += mebibyte) {
      const { chunk } = await other.ok('fs/readBlock', { handleId: 'h', offset, len: mebibyte });
      assert.equal(Buffer.from(chunk as string, 'base64').length, mebibyte);
    }
    assert.equal(waiting.isOver, false);
    greedy.close();
    const { dataBase64 } = await whole;
    assert.equal((dataBase64 as string).length, 4 * Math.ceil((100 * mebibyte) / 3));
    other.close();
    assert.equal(server.process.exitCode, null);
  });

  it('has room for files whatever web servers keep waiting for', async () => {
    const web = createServer((_, response) => void response.write(Buffer.alloc(2 * mebibyte)));
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/`;
    const [asking, other] = [await server.connect(), await server.connect()];
    for (let count = 0; count < 8; count++) {
      void asking.call('http/request', { method: 'GET', url, requestId: String(count) });
    }
    const connections = () =>
      new Promise<number>((resolve) => web.getConnections((_, count) => resolve(count)));
    await waitFor('the requests', async () => (await connections()) === 8);
    // Their first bytes are not small any more.
    await asking.ok('environment/status');
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { dataBase64 } = await other.ok('fs/readFile', { path: sparse('two', 2 * mebibyte) });
    assert.equal(Buffer.from(dataBase64 as string, 'base64').length, 2 * mebibyte);
    asking.close();
    other.close();
    web.closeAllConnections();
    web.close();
  });

  it('is enough for hundreds of reads of much output at once', async () => {
    const [greedy, other] = [await server.connect(), await server.connect()];
    await greedy.script('p', 'head -c 1048576 /dev/zero');
    await greedy.closed('p');
    greedy.notes.length = 0;
    greedy.transport.pause();
    let answered = 0;
    const reads = Array.from({ length: 300 }, () => ({ processId: 'p' })).map((params) =>
      greedy.ok('process/read', params).then(({ chunks }) => {
        answered++;
        return (chunks as readonly object[]).length;
      }),
    );
    const before = server.memory;
    await other.ok('environment/status');
    let highest = 0;
    for (let look = 0; look < 50; look++) {
      highest = Math.max(highest, server.memory);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(answered, 0);
    assert.ok(highest - before < 200, `${before} MiB before, ${highest} MiB then`);
    greedy.transport.resume();
    assert.ok((await Promise.all(reads)).every((count) => count > 0));
    greedy.close();
    other.close();
  });

  it('is enough for files that tell no size', async () => {
    const client = await server.connect();
    const { dataBase64 } = await client.ok('fs/readFile', { path: 'file:///proc/kallsyms' });
    assert.ok((dataBase64 as string).length > 4 * mebibyte);
    client.close();
  });
});
