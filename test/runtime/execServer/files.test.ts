import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fail } from '../../../src/base/result.ts';
import { errorCodes, RpcError } from '../../../src/runtime/execServer/protocol/errors.ts';
import { uriOf } from '../../../src/runtime/execServer/protocol/fileUri.ts';
import { AnswerBudget } from '../../../src/runtime/execServer/server/answerBudget.ts';
import { longestAnswer } from '../../../src/runtime/execServer/services/files/limits.ts';
import { createFileService } from '../../../src/runtime/execServer/services/files/fileService.ts';
import { ServiceClient } from '../../harness/fileServiceClient.ts';
import { createTemporaryFolder, type TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';

const { internal, invalidRequest, invalidParams, notFound } = errorCodes;
const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString('base64');

// Texts and codes are those of the reference server, as it answered the same calls.
describe('The file methods of the exec-server', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let folder: TemporaryFolder;
  let client: ServiceClient;
  beforeEach(async () => {
    folder = await createTemporaryFolder('files');
    client = new ServiceClient(
      createFileService({
        answers: new AnswerBudget(longestAnswer),
        confine: async () => fail(new RpcError(invalidParams, 'no sandbox here')),
        surroundings: () => assert.fail('nothing is confined'),
        workerArgv: [],
      }),
    );
  });
  afterEach(async () => {
    client.close();
    await folder.dispose();
  });

  const at = (...names: string[]): string => join(folder.path, ...names);
  const uri = (...names: string[]): string => uriOf(at(...names));
  function put(name: string, text = ''): string {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
    return uri(name);
  }
  async function refused(call: Promise<unknown>, code: number, text: string | RegExp): Promise<void> {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof RpcError, String(error));
      assert.deepEqual([error.code, error.message.match(text) !== null], [code, true], error.message);
      return true;
    });
  }

  describe('fs/readFile and fs/writeFile', () => {
    it('carry every byte, also of a file that does not fit in one piece', async () => {
      const bytes = Buffer.alloc(2_000_003, Buffer.from(Array.from({ length: 256 }, (_, index) => index)));
      await client.call('fs/writeFile', { path: uri('file'), dataBase64: base64(bytes) });
      assert.ok(readFileSync(at('file')).equals(bytes));
      const { dataBase64 } = await client.call('fs/readFile', { path: uri('file') });
      assert.ok(Buffer.from(dataBase64, 'base64').equals(bytes));
    });

    it('read what has no size', async () => {
      const { dataBase64 } = await client.call('fs/readFile', { path: uriOf('/proc/self/status') });
      assert.match(Buffer.from(dataBase64, 'base64').toString(), /^Name:/);
    });

    it('keep the inode, the mode and the names of a file that is replaced', async () => {
      put('file', 'old and longer');
      chmodSync(at('file'), 0o751);
      linkSync(at('file'), at('second'));
      symlinkSync('file', at('link'));
      await client.call('fs/writeFile', { path: uri('link'), dataBase64: base64('new') });
      assert.equal(readFileSync(at('second'), 'utf8'), 'new');
      assert.equal(statSync(at('file')).mode & 0o777, 0o751);
      assert.ok(lstatSync(at('link')).isSymbolicLink());
    });

    it('make what a dangling link leads to', async () => {
      mkdirSync(at('sub'));
      symlinkSync('../made', at('sub/link'));
      await client.call('fs/writeFile', { path: uri('sub/link'), dataBase64: base64('x') });
      assert.equal(readFileSync(at('made'), 'utf8'), 'x');
    });

    it('take files only', async () => {
      mkdirSync(at('folder'));
      execFileSync('mkfifo', [at('pipe')]);
      for (const path of [at('folder'), at('pipe'), '/dev/null']) {
        const text = `path \`${path}\` is not a file`;
        await refused(client.call('fs/readFile', { path: uriOf(path) }), invalidRequest, text);
      }
      const write = (path: string): Promise<unknown> => client.call('fs/writeFile', { path, dataBase64: '' });
      await refused(write(uri('folder')), internal, /^Is a directory \(os error 21\)$/);
      await refused(write(uri('pipe')), invalidRequest, 'is not a file');
      await refused(write(uri('no/parent')), notFound, /^No such file or directory \(os error 2\)$/);
      put('file');
      await refused(write(uri('file/below')), internal, /^Not a directory \(os error 20\)$/);
      symlinkSync('loop', at('loop'));
      await refused(write(uri('loop')), internal, /^Symbolic link loop \(os error 40\)$/);
    });

    it('refuse what is too large', async () => {
      put('large');
      truncateSync(at('large'), 512 * 1024 * 1024 + 1);
      const call = client.call('fs/readFile', { path: uri('large') });
      await refused(call, invalidRequest, 'file is too large to read: limit is 536870912 bytes');
      truncateSync(at('large'), 512 * 1024 * 1024);
      await refused(client.call('fs/readFile', { path: uri('large') }), invalidRequest, 'fs/readBlock');
    });

    for (const [data, problem] of [
      ['***', 'Invalid symbol 42, offset 0.'],
      ['YQ', 'Invalid padding'],
      ['YQ =', 'Invalid symbol 32, offset 2.'],
      ['-_-_', 'Invalid symbol 45, offset 0.'],
      ['YR==', 'Invalid last symbol 82, offset 1.'],
      ['YWFh\nYWFh', 'Invalid symbol 10, offset 4.'],
    ] as const) {
      it(`refuse ${JSON.stringify(data)} as base64`, async () => {
        const call = client.call('fs/writeFile', { path: uri('file'), dataBase64: data });
        await refused(call, invalidRequest, `fs/writeFile requires valid base64 dataBase64: ${problem}`);
        assert.ok(!existsSync(at('file')));
      });
    }
  });

  describe('without following links', () => {
    const followSymlinks = false;
    beforeEach(() => {
      put('folder/file', 'text');
      symlinkSync('folder/file', at('link'));
      symlinkSync('folder', at('way'));
    });

    it('what is no link works', async () => {
      const path = uri('folder/file');
      await client.call('fs/writeFile', { path, dataBase64: base64('new'), followSymlinks });
      assert.equal((await client.call('fs/readFile', { path, followSymlinks })).dataBase64, base64('new'));
      assert.equal((await client.call('fs/getMetadata', { path, followSymlinks })).isFile, true);
      await client.call('fs/createDirectory', { path: uri('folder/a/b'), followSymlinks });
      await client.call('fs/remove', { path: uri('folder/a/b'), followSymlinks, recursive: false });
      assert.deepEqual(readdirSync(at('folder/a')), []);
    });

    it('a link in the last place is refused', async () => {
      const path = uri('link');
      const loop = /^Symbolic link loop \(os error 40\)$/;
      await refused(client.call('fs/readFile', { path, followSymlinks }), internal, loop);
      await refused(client.call('fs/writeFile', { path, dataBase64: '', followSymlinks }), internal, loop);
      const contains = 'path contains a symbolic link';
      await refused(client.call('fs/getMetadata', { path, followSymlinks }), invalidRequest, contains);
      assert.equal(readFileSync(at('folder/file'), 'utf8'), 'text');
    });

    it('a link on the way is refused', async () => {
      const path = uri('way/file');
      const way = /^Not a directory \(os error 20\)$/;
      await refused(client.call('fs/readFile', { path, followSymlinks }), internal, way);
      await refused(client.call('fs/writeFile', { path, dataBase64: '', followSymlinks }), internal, way);
      await refused(client.call('fs/getMetadata', { path, followSymlinks }), internal, way);
      await refused(client.call('fs/remove', { path, followSymlinks, recursive: false }), internal, way);
      await refused(client.call('fs/createDirectory', { path: uri('way/x'), followSymlinks }), internal, way);
      assert.deepEqual(readdirSync(at('folder')), ['file']);
    });

    it('nothing is removed with its contents', async () => {
      const call = client.call('fs/remove', { path: uri('folder'), followSymlinks });
      await refused(call, internal, 'recursive no-follow removal is unsupported');
    });
  });

  it('fs/createDirectory makes folders above and takes existing ones, or neither', async () => {
    await client.call('fs/createDirectory', { path: uri('a/b/c') });
    await client.call('fs/createDirectory', { path: uri('a/b/c') });
    const once = client.call('fs/createDirectory', { path: uri('a'), recursive: false });
    await refused(once, internal, /^File exists \(os error 17\)$/);
    await refused(
      client.call('fs/createDirectory', { path: uri('x/y'), recursive: false }),
      notFound,
      'No such',
    );
    put('file');
    await refused(client.call('fs/createDirectory', { path: uri('file') }), internal, 'File exists');
    await refused(client.call('fs/createDirectory', { path: uri('file/x') }), internal, 'Not a directory');
    const many = Array.from({ length: 20 }, () =>
      client.call('fs/createDirectory', { path: uri('p/q/r/s') }),
    );
    await Promise.all(many);
  });

  it('fs/getMetadata and fs/canonicalize follow links', async () => {
    put('file', 'hello');
    symlinkSync('file', at('link'));
    symlinkSync('gone', at('dangling'));
    const { modifiedAtMs, ...rest } = await client.call('fs/getMetadata', { path: uri('link') });
    assert.deepEqual(rest, { isDirectory: false, isFile: true, isSymlink: true, size: 5, createdAtMs: 0 });
    assert.equal(modifiedAtMs, Math.floor(statSync(at('file')).mtimeMs));
    assert.equal((await client.call('fs/canonicalize', { path: uri('link') })).path, uri('file'));
    await refused(client.call('fs/getMetadata', { path: uri('dangling') }), notFound, 'No such file');
    await refused(client.call('fs/canonicalize', { path: uri('dangling') }), notFound, 'No such file');
  });

  it('fs/readDirectory says what links lead to, and leaves out those that lead nowhere', async () => {
    put('folder/file');
    mkdirSync(at('folder/sub'));
    symlinkSync('file', at('folder/to-file'));
    symlinkSync('sub', at('folder/to-sub'));
    symlinkSync('gone', at('folder/dangling'));
    execFileSync('mkfifo', [at('folder/pipe')]);
    const { entries } = await client.call('fs/readDirectory', { path: uri('folder') });
    const words = entries.map(
      (entry) => `${entry.fileName} ${entry.isFile ? 'f' : ''}${entry.isDirectory ? 'd' : ''}`,
    );
    assert.deepEqual(words.sort(), ['file f', 'pipe ', 'sub d', 'to-file f', 'to-sub d']);
    const file = client.call('fs/readDirectory', { path: uri('folder/file') });
    await refused(file, internal, /^Not a directory \(os error 20\)$/);
  });

  describe('fs/walk', () => {
    const options = { maxDepth: 8, maxDirectories: 100, maxEntries: 100, followDirectorySymlinks: false };
    const walk = async (
      more: Partial<typeof options> & { pruneHiddenDirectories?: boolean } = {},
    ): Promise<string> => {
      const result = await client.call('fs/walk', { path: uri('w'), options: { ...options, ...more } });
      assert.deepEqual(result.errors, []);
      const names = result.entries.map(
        ({ path, kind }) => decodeURIComponent(path.slice(uri('w').length + 1)) + kind[0],
      );
      return names.join(' ') + (result.truncated ? ' …' : '');
    };
    beforeEach(() => {
      for (const name of ['w/.6', 'w/.h/5', 'w/1', 'w/B', 'w/a/2', 'w/a/b/3', 'w/a/b/c/4', 'w/ä']) {
        put(name);
      }
      mkdirSync(at('w/a/b/c/d'));
      symlinkSync('a', at('w/la'));
      symlinkSync('1', at('w/l1'));
      symlinkSync('..', at('w/a/up'));
      execFileSync('mkfifo', [at('w/p')]);
    });

    it('is breadth first and by name', async () => {
      const all = '.6f .hd 1f Bf ad äf .h/5f a/2f a/bd a/b/3f a/b/cd a/b/c/4f a/b/c/dd';
      assert.equal(await walk(), all);
      assert.equal(await walk({ pruneHiddenDirectories: true }), all.replace(' .h/5f', ''));
    });

    it('follows links to folders when told to, each folder once', async () => {
      const followed = '.6f .hd 1f Bf ad lad äf .h/5f a/2f a/bd a/upd a/b/3f a/b/cd a/b/c/4f a/b/c/dd';
      assert.equal(await walk({ followDirectorySymlinks: true }), followed);
    });

    // What is not listed counts, too.
    for (const [more, expected] of [
      [{ maxDepth: 0 }, '.6f .hd 1f Bf ad äf'],
      [{ maxDepth: 1 }, '.6f .hd 1f Bf ad äf .h/5f a/2f a/bd'],
      [{ maxDirectories: 1 }, '.6f .hd 1f Bf ad äf …'],
      [{ maxDirectories: 2 }, '.6f .hd 1f Bf ad äf .h/5f …'],
      [{ maxEntries: 3 }, '.6f .hd 1f …'],
      [{ maxEntries: 11 }, '.6f .hd 1f Bf ad äf .h/5f a/2f …'],
      [{ maxEntries: 13 }, '.6f .hd 1f Bf ad äf .h/5f a/2f a/bd …'],
    ] as const) {
      it(`stops at ${JSON.stringify(more)}`, async () => {
        assert.equal(await walk(more), expected);
      });
    }

    it('refuses limits out of range', async () => {
      for (const more of [{ maxDirectories: 0 }, { maxEntries: 0 }]) {
        await refused(walk(more), invalidRequest, 'filesystem walk limits must be greater than zero');
      }
      for (const more of [{ maxDepth: 65 }, { maxDirectories: 10_001 }, { maxEntries: 50_001 }]) {
        const most = 'filesystem walk limits exceed maximums: depth=64, directories=10000, entries=50000';
        await refused(walk(more), invalidRequest, most);
      }
    });

    it('lists nothing from a file or a link', async () => {
      for (const name of ['w/1', 'w/la', 'w/p']) {
        const result = await client.call('fs/walk', { path: uri(name), options });
        assert.deepEqual(result, { entries: [], errors: [], truncated: false });
      }
      await refused(client.call('fs/walk', { path: uri('gone'), options }), notFound, 'No such file');
    });
  });

  it('fs/remove removes links themselves, folders with all in them, and misses nothing', async () => {
    put('folder/sub/file');
    mkdirSync(Buffer.concat([Buffer.from(at('folder/')), Buffer.from([0x66, 0xff])]));
    symlinkSync('folder', at('link'));
    await client.call('fs/remove', { path: uri('link') });
    assert.ok(existsSync(at('folder/sub/file')));
    const full = client.call('fs/remove', { path: uri('folder'), recursive: false });
    await refused(full, internal, /^Directory not empty \(os error 39\)$/);
    await client.call('fs/remove', { path: uri('folder') });
    assert.deepEqual(readdirSync(folder.path), []);
    await client.call('fs/remove', { path: uri('folder') });
    await refused(client.call('fs/remove', { path: uri('folder'), force: false }), notFound, 'No such file');
  });

  describe('fs/copy', () => {
    const copy = (source: string, destination: string, recursive = true): Promise<unknown> =>
      client.call('fs/copy', { sourcePath: uri(source), destinationPath: uri(destination), recursive });
    beforeEach(() => {
      put('src/x', 'text');
      chmodSync(at('src/x'), 0o700);
      put('src/in/y', 'deep');
      symlinkSync('x', at('src/l'));
    });

    it('copies trees with modes and links, without pipes', async () => {
      execFileSync('mkfifo', [at('src/pipe')]);
      await copy('src', 'new/dst');
      assert.deepEqual(readdirSync(at('new/dst')).sort(), ['in', 'l', 'x']);
      assert.equal(statSync(at('new/dst/x')).mode & 0o777, 0o700);
      assert.equal(readlinkSync(at('new/dst/l')), 'x');
      assert.equal(readFileSync(at('new/dst/in/y'), 'utf8'), 'deep');
    });

    it('overwrites files, and leaves one alone that is copied to itself', async () => {
      put('other', 'something longer');
      await copy('src/x', 'other', false);
      assert.equal(readFileSync(at('other'), 'utf8'), 'text');
      await copy('src/x', 'src/x', false);
      assert.equal(readFileSync(at('src/x'), 'utf8'), 'text');
    });

    it('refuses what cannot be', async () => {
      execFileSync('mkfifo', [at('pipe')]);
      await refused(copy('src', 'dst', false), invalidRequest, 'recursive');
      await refused(copy('src', 'src/deeper'), invalidRequest, 'itself or one of its descendants');
      await refused(copy('src', 'src'), invalidRequest, 'itself or one of its descendants');
      await refused(
        copy('pipe', 'dst'),
        invalidRequest,
        'only supports regular files, directories, and symlinks',
      );
      await refused(copy('gone', 'dst'), notFound, 'No such file');
      await refused(copy('src/x', 'no/x', false), notFound, 'No such file');
      put('file');
      await refused(copy('src', 'file'), internal, /^File exists \(os error 17\)$/);
      await refused(copy('src/l', 'file'), internal, /^File exists \(os error 17\)$/);
      await refused(copy('src/x', 'src/in', false), internal, /^Is a directory \(os error 21\)$/);
    });
  });

  describe('handles', () => {
    it('read and write blocks, with zeros in gaps', async () => {
      const path = uri('file');
      assert.deepEqual(await client.call('fs/open', { handleId: 'w', path, mode: 'replace' }), {
        handleId: 'w',
      });
      await client.call('fs/writeBlock', { handleId: 'w', offset: 0, chunk: base64('hello') });
      await client.call('fs/writeBlock', { handleId: 'w', offset: 8, chunk: base64('world') });
      await client.call('fs/close', { handleId: 'w' });
      assert.equal(readFileSync(at('file'), 'latin1'), 'hello\0\0\0world');
      await client.call('fs/open', { handleId: 'r', path });
      const read = (offset: number, len: number): Promise<unknown> =>
        client.call('fs/readBlock', { handleId: 'r', offset, len });
      assert.deepEqual(await read(0, 5), { chunk: base64('hello'), eof: false });
      assert.deepEqual(await read(8, 5), { chunk: base64('world'), eof: false });
      assert.deepEqual(await read(8, 6), { chunk: base64('world'), eof: true });
      assert.deepEqual(await read(99, 6), { chunk: '', eof: true });
      await client.call('fs/close', { handleId: 'r' });
      await client.call('fs/close', { handleId: 'r' });
      await refused(read(0, 1), notFound, 'unknown file handle `r`');
    });

    it('stay with the file that was opened', async () => {
      const path = put('file', 'first');
      await client.call('fs/open', { handleId: 'r', path });
      renameSync(at('file'), at('moved'));
      put('file', 'second');
      const { chunk } = await client.call('fs/readBlock', { handleId: 'r', offset: 0, len: 9 });
      assert.equal(chunk, base64('first'));
    });

    it('are for one direction', async () => {
      const path = put('file', 'x');
      await client.call('fs/open', { handleId: 'r', path });
      const bad = /^Bad file descriptor \(os error 9\)$/;
      const write = { handleId: 'r', offset: 0, chunk: base64('y') };
      await refused(client.call('fs/writeBlock', write), internal, bad);
      await client.call('fs/open', { handleId: 'w', path, mode: 'replace' });
      const read = { handleId: 'w', offset: 0, len: 1 };
      await refused(client.call('fs/readBlock', read), internal, bad);
      await refused(client.call('fs/readBlock', read), notFound, 'unknown file handle `w`');
    });

    it('have limits', async () => {
      const path = put('file', 'x');
      const long = client.call('fs/open', { handleId: 'h'.repeat(33), path });
      await refused(long, invalidRequest, 'file handle ID must not exceed 32 bytes');
      const ids = Array.from({ length: 128 }, (_, index) => `h${index}`);
      await Promise.all(ids.map((handleId) => client.call('fs/open', { handleId, path })));
      await refused(client.call('fs/open', { handleId: 'h0', path }), invalidRequest, 'already exists');
      const most = 'at most 128 file handles may be open per connection';
      await refused(client.call('fs/open', { handleId: 'more', path }), invalidRequest, most);
      await client.call('fs/close', { handleId: 'h0' });
      await client.call('fs/open', { handleId: 'more', path });
      for (const len of [0, 1_048_577]) {
        const call = client.call('fs/readBlock', { handleId: 'h1', offset: 0, len });
        await refused(call, invalidRequest, 'file read block length must be between 1 and 1048576');
      }
      for (const chunk of ['', base64(Buffer.alloc(1_048_577))]) {
        const call = client.call('fs/writeBlock', { handleId: 'h1', offset: 0, chunk });
        await refused(call, invalidRequest, 'file write block length must be between 1 and 1048576');
      }
    });

    it('are free again after an open that failed', async () => {
      await refused(client.call('fs/open', { handleId: 'h', path: uri('gone') }), notFound, 'No such file');
      await client.call('fs/open', { handleId: 'h', path: put('file') });
    });

    it('end with the connection', async () => {
      const descriptors = (): number =>
        readdirSync('/proc/self/fd').filter((name) => {
          try {
            return readlinkSync(`/proc/self/fd/${name}`) === at('file');
          } catch {
            return false;
          }
        }).length;
      await client.call('fs/open', { handleId: 'h', path: put('file') });
      assert.equal(descriptors(), 1);
      client.close();
      await waitFor('the file to be closed', () => descriptors() === 0);
    });
  });

  describe('fs/watchMissing', () => {
    const watch = async (watchId: number, missing: string[], present?: string): Promise<boolean> =>
      (await client.call('fs/watchMissing', { watchId, missing, present: present ?? null })).watching;
    const told = (watchId: number): Promise<unknown> =>
      waitFor('a notification', () => client.events.some((event) => event.watchId === watchId));

    it('tells once when what is missing comes', async () => {
      assert.equal(await watch(1, [uri('a'), uri('b')]), true);
      put('b');
      await told(1);
      put('a');
      assert.equal(await watch(2, [uri('c')]), true);
      put('c');
      await told(2);
      assert.deepEqual(client.events, [{ watchId: 1 }, { watchId: 2 }]);
    });

    it('tells when a folder on the way comes, or goes', async () => {
      assert.equal(await watch(1, [uri('a/b/c')]), true);
      mkdirSync(at('a'));
      await told(1);
      assert.equal(await watch(2, [uri('a/b/c')]), true);
      rmSync(at('a'), { recursive: true });
      await told(2);
    });

    it('tells when what is present changes, or goes', async () => {
      put('file', 'one');
      assert.equal(await watch(1, [uri('a')], uri('file')), true);
      writeFileSync(at('file'), 'changed');
      await told(1);
      assert.equal(await watch(2, [uri('a')], uri('file')), true);
      rmSync(at('file'));
      await told(2);
    });

    it('takes only rising numbers, and only what is so', async () => {
      put('file');
      symlinkSync('gone', at('dangling'));
      assert.equal(await watch(5, [uri('a')]), true);
      assert.equal(await watch(5, [uri('a')]), false);
      assert.equal(await watch(4, [uri('a')]), false);
      assert.equal(await watch(6, [uri('file')]), false);
      assert.equal(await watch(7, [uri('dangling')]), false);
      assert.equal(await watch(8, [uri('a')], uri('gone')), false);
      assert.equal(await watch(9, []), false);
      assert.equal(
        await watch(
          10,
          Array.from({ length: 65 }, (_, index) => uri(`m${index}`)),
        ),
        false,
      );
      assert.equal(await watch(11, [uri('file/below')]), false);
    });

    it('keeps the watch when another one has a number that is too low, and only then', async () => {
      assert.equal(await watch(5, [uri('a')]), true);
      assert.equal(await watch(3, [uri('b')]), false);
      put('a');
      await told(5);
      assert.equal(await watch(6, [uri('c')]), true);
      assert.equal(await watch(7, [uri('a')]), false);
      assert.equal(await watch(8, [uri('d')]), true);
      put('c');
      put('d');
      await told(8);
      assert.deepEqual(client.events, [{ watchId: 5 }, { watchId: 8 }]);
    });
  });
});
