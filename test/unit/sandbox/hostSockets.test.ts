import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { hostSockets } from '../../../src/sandbox/linux/hostSockets.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

describe('hostSockets()', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let folder: TemporaryFolder;
  const servers: Server[] = [];
  beforeEach(async () => {
    folder = await createTemporaryFolder('sockets');
  });
  afterEach(async () => {
    servers.splice(0).forEach((server) => server.close());
    await folder.dispose();
  });

  async function bind(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const server = createServer().listen(join(folder.path, name));
      servers.push(server);
      await once(server, 'listening');
    }
  }

  /** What is found when the kernel lists these names. */
  function found(...names: readonly string[]): readonly string[] {
    const list = join(folder.path, 'list');
    const lines = names.map((name) => `000000000c3d9f4e: 00000002 00000000 00010000 0001 01  4711 ${name}\n`);
    writeFileSync(list, `Num       RefCount Protocol Flags    Type St Inode Path\n${lines.join('')}`);
    return hostSockets(list).map((path) => path.slice(folder.path.length + 1));
  }

  it('finds what servers of this machine are bound on', async () => {
    await bind('one');
    assert.ok(hostSockets().includes(join(folder.path, 'one')));
  });

  it('finds each once, under its canonical name, whatever is in it', async () => {
    mkdirSync(join(folder.path, 'a folder'));
    symlinkSync('a folder', join(folder.path, 'link'));
    await bind('one', 'a folder/two', 'a folder/größer');
    symlinkSync('a folder/two', join(folder.path, 'alias'));
    const at = (name: string): string => join(folder.path, name);
    assert.deepEqual(found(at('one'), at('link/two'), at('a folder/two'), at('alias'), at('one')), [
      'one',
      'a folder/two',
    ]);
    assert.deepEqual(found(at('a folder/größer')), ['a folder/größer']);
  });

  it('passes by what is no socket, has gone, or has no path', () => {
    writeFileSync(join(folder.path, 'file'), '');
    symlinkSync('nowhere', join(folder.path, 'link'));
    const names = ['file', 'missing', 'missing/two', 'file/two', 'link'].map((name) =>
      join(folder.path, name),
    );
    assert.deepEqual(found(...names, '@abstract', '@/tmp/.X11-unix/X0', '', 'relative'), []);
  });
});
