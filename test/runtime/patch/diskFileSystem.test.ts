import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createDiskFileSystem } from '../../../src/patch/files/diskFileSystem.ts';
import type {
  Entry,
  FileChange,
  FileOperation,
  FileSystem,
  StagedChange,
} from '../../../src/patch/files/fileSystem.ts';
import { FileError } from '../../../src/patch/files/fileSystem.ts';
import { openByDescriptor, openByName } from '../../../src/patch/files/folder.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { treeSnapshot } from '../../harness/treeSnapshot.ts';
import { cannotRunUnprivileged, nobody, runUnprivileged } from '../../harness/unprivileged.ts';

const isRoot = process.getuid?.() === 0;
const missing: Entry = { kind: 'missing' };

/** Both ways of holding a folder; the first is the one of this system. */
const ways = [
  ['by descriptor', openByDescriptor],
  ['by name', openByName],
] as const;

for (const [way, open] of ways) {
  describe(`The disk, its folders held ${way}`, function () {
    before(function () {
      if (open === openByDescriptor && process.platform !== 'linux') this.skip();
    });

    let folder: TemporaryFolder;
    let files: FileSystem;
    beforeEach(async () => {
      folder = await createTemporaryFolder('disk');
      files = createDiskFileSystem(open);
    });
    afterEach(() => folder.dispose());

    const at = (...names: string[]): string => join(folder.path, ...names);
    const put = (name: string, text: string, mode = 0o644): string => {
      writeFileSync(at(name), text);
      chmodSync(at(name), mode);
      return at(name);
    };
    const text = (name: string): string => readFileSync(at(name), 'utf8');
    const write = async (name: string, content: string, mode?: number): Promise<FileChange> => ({
      kind: 'write',
      path: at(name),
      expected: await files.stat(at(name)),
      bytes: Buffer.from(content),
      mode,
    });
    const remove = async (name: string): Promise<FileChange> => ({
      kind: 'remove',
      path: at(name),
      expected: await files.stat(at(name)),
    });
    const rename = async (name: string, toPath: string): Promise<FileChange> => ({
      kind: 'rename',
      path: at(name),
      expected: await files.stat(at(name)),
      toPath,
      toExpected: await files.stat(toPath),
    });

    const commit = async (change: FileChange): Promise<StagedChange> => {
      const staged = await files.stage(change);
      await staged.commit();
      return staged;
    };
    const apply = async (change: FileChange): Promise<void> => (await commit(change)).release();

    /** Stages, commits and reverts; the folder must be what it was after each way back. */
    const bringsBack = async (makeChange: () => Promise<FileChange>): Promise<void> => {
      const before = treeSnapshot(folder.path);
      await (await files.stage(await makeChange())).release();
      assert.deepEqual(treeSnapshot(folder.path), before, 'released');
      const staged = await commit(await makeChange());
      assert.notDeepEqual(treeSnapshot(folder.path), before);
      await staged.revert();
      assert.deepEqual(treeSnapshot(folder.path), before, 'reverted');
    };
    const failsToStage = (change: FileChange, operation: FileOperation, code: string): Promise<void> =>
      assert.rejects(files.stage(change), isFileError(operation, code));

    describe('stat() and read()', () => {
      it('tell a file, a folder, a link, a pipe and nothing apart', async () => {
        put('file', 'four', 0o4751);
        mkdirSync(at('folder'));
        symlinkSync('nowhere', at('link'));
        execFileSync('mkfifo', [at('pipe')]);
        const file = await files.stat(at('file'));
        assert.ok(file.kind === 'file');
        assert.deepEqual([file.mode, file.size], [0o4751, 4]);
        assert.deepEqual(await files.stat(at('folder')), { kind: 'folder' });
        assert.deepEqual(await files.stat(at('link')), { kind: 'link', target: 'nowhere' });
        assert.deepEqual(await files.stat(at('pipe')), { kind: 'other' });
        assert.deepEqual(await files.stat(at('none')), missing);
        assert.deepEqual(await files.stat(at('file', 'below')), missing);
      });

      it('give another version after a write that restores size and time', async () => {
        const path = put('file', 'aaaa');
        utimesSync(path, 1, 1);
        const before = await files.stat(path);
        writeFileSync(path, 'bbbb');
        utimesSync(path, 1, 1);
        assert.notDeepEqual(await files.stat(path), before);
      });

      it('read neither through a link nor from a pipe or folder', async () => {
        put('file', 'content');
        symlinkSync(at('file'), at('link'));
        execFileSync('mkfifo', [at('pipe')]);
        assert.equal((await files.read(at('file'))).toString(), 'content');
        await assert.rejects(files.read(at('link')), isFileError('read', 'ELOOP'));
        await assert.rejects(files.read(at('pipe')), isFileError('read', 'EISDIR'));
        await assert.rejects(files.read(folder.path), isFileError('read', 'EISDIR'));
        await assert.rejects(files.read(at('none')), isFileError('read', 'ENOENT'));
      });
    });

    describe('a write', () => {
      it('makes a file with the default mode, and with a given one', async () => {
        await apply(await write('plain', 'new'));
        await apply(await write('program', 'new', 0o755));
        assert.equal(text('plain'), 'new');
        assert.equal(lstatSync(at('plain')).mode & 0o777, 0o666 & ~process.umask());
        assert.equal(lstatSync(at('program')).mode & 0o777, 0o755);
        assert.deepEqual(readdirSync(folder.path), ['plain', 'program']);
      });

      it('shows nothing before the commit, and leaves nothing beside the file after it', async () => {
        put('file', 'old');
        const staged = await files.stage(await write('file', 'new'));
        assert.equal(text('file'), 'old');
        assert.match(readdirSync(folder.path).join(' '), /^\.file\.cordon-[0-9a-f]{16} file$/);
        await staged.commit();
        assert.equal(text('file'), 'new');
        await staged.release();
        assert.deepEqual(readdirSync(folder.path), ['file']);
      });

      it('keeps the permissions, set-id bits included', async () => {
        put('file', 'old', 0o6750);
        await apply(await write('file', 'new'));
        assert.equal(lstatSync(at('file')).mode & 0o7777, 0o6750);
      });

      it('keeps the owner', async function () {
        if (!isRoot) this.skip();
        put('file', 'old', 0o600);
        chownSync(at('file'), 1234, 4321);
        chmodSync(at('file'), 0o4700);
        await apply(await write('file', 'new'));
        const { uid, gid, mode } = lstatSync(at('file'));
        assert.deepEqual([uid, gid, mode & 0o7777], [1234, 4321, 0o4700]);
      });

      it('keeps a file shared that has several hard links', async () => {
        put('file', 'old', 0o640);
        linkSync(at('file'), at('other'));
        const { ino } = lstatSync(at('file'));
        await apply(await write('file', 'new, and longer'));
        assert.equal(text('other'), 'new, and longer');
        await apply(await write('other', ''));
        assert.equal(text('file'), '');
        assert.deepEqual([lstatSync(at('file')).ino, lstatSync(at('other')).ino], [ino, ino]);
        assert.equal(lstatSync(at('file')).mode & 0o777, 0o640);
      });

      it('reverts to the same file, its time of modification included', async () => {
        put('file', 'old', 0o604);
        await bringsBack(() => write('file', 'new'));
        await bringsBack(() => write('file', 'new', 0o777));
      });

      it('reverts a new file with the folders that it made', async () => {
        await bringsBack(() => write('a/b/c', 'new'));
        mkdirSync(at('a'));
        await bringsBack(() => write('a/b/c', 'new'));
      });

      it('reverts a file with several hard links to its old content', async () => {
        put('file', 'a long old text', 0o600);
        linkSync(at('file'), at('other'));
        const staged = await commit(await write('file', 'new', 0o666));
        await staged.revert();
        assert.equal(text('other'), 'a long old text');
        const { mode, nlink } = lstatSync(at('file'));
        assert.deepEqual([mode & 0o777, nlink], [0o600, 2]);
      });

      it('makes no folder before the commit', async () => {
        const staged = await files.stage(await write('a/b/c', 'new'));
        assert.equal(readdirSync(folder.path).length, 1);
        await staged.commit();
        await staged.release();
        assert.equal(text('a/b/c'), 'new');
        assert.deepEqual(readdirSync(folder.path), ['a']);
      });

      it('makes a folder where an earlier change removes a file', async () => {
        put('a', 'file');
        const before = treeSnapshot(folder.path);
        const removal = await files.stage(await remove('a'));
        const creation = await files.stage(await write('a/b', 'new'));
        await removal.commit();
        await creation.commit();
        assert.equal(text('a/b'), 'new');
        await creation.revert();
        await removal.revert();
        assert.deepEqual(treeSnapshot(folder.path), before);
      });

      it('fails below a file that stays', async () => {
        put('a', 'file');
        const before = treeSnapshot(folder.path);
        const staged = await files.stage(await write('a/b/c', 'new'));
        await assert.rejects(staged.commit(), isFileError('write', 'ENOTDIR'));
        await staged.release();
        assert.deepEqual(treeSnapshot(folder.path), before);
      });

      it('leaves folders alone that got other contents meanwhile', async () => {
        const staged = await commit(await write('a/b/c', 'new'));
        put('a/mine', 'mine');
        await staged.revert();
        assert.deepEqual(Object.keys(treeSnapshot(folder.path)), ['a', 'a/mine']);
      });

      it('refuses a folder and a link in the place of the file', async () => {
        mkdirSync(at('folder'));
        symlinkSync('nowhere', at('link'));
        await failsToStage(await write('folder', 'new'), 'write', 'EISDIR');
        await failsToStage(await write('link', 'new'), 'write', 'EEXIST');
        assert.deepEqual(readdirSync(folder.path), ['folder', 'link']);
      });

      it('takes names as long as names can be', async () => {
        const name = 'é'.repeat(127);
        await apply(await write(name, 'new'));
        await bringsBack(() => write(name, 'newer'));
        await bringsBack(() => remove(name));
      });

      it('is not troubled by what a killed process left', async () => {
        put('file', 'old');
        await files.stage(await write('file', 'never committed'));
        await apply(await write('file', 'new'));
        assert.equal(text('file'), 'new');
        assert.equal(readdirSync(folder.path).length, 2);
      });

      it('writes into a file that is a mount of its own', async function () {
        put('file', 'old');
        put('source', 'old');
        if (!tryMount('--bind', at('source'), at('file'))) this.skip();
        try {
          const staged = await commit(await write('file', 'new'));
          assert.equal(text('source'), 'new');
          await staged.revert();
          assert.equal(text('source'), 'old');
          await apply(await write('file', 'newer'));
          assert.equal(text('source'), 'newer');
        } finally {
          execFileSync('umount', [at('file')]);
        }
        assert.deepEqual(readdirSync(folder.path), ['file', 'source']);
      });
    });

    describe('a removal', () => {
      it('takes a file or the link itself away', async () => {
        put('file', 'old');
        symlinkSync('file', at('link'));
        await apply(await remove('link'));
        assert.deepEqual(readdirSync(folder.path), ['file']);
        await apply(await remove('file'));
        assert.deepEqual(readdirSync(folder.path), []);
      });

      it('reverts to the same file, link or hard link', async () => {
        put('file', 'old', 0o500);
        linkSync(at('file'), at('hard'));
        symlinkSync('file', at('link'));
        symlinkSync('nowhere', at('dangling'));
        for (const name of ['file', 'hard', 'link', 'dangling']) {
          await bringsBack(() => remove(name));
        }
      });

      it('refuses folders and what is missing', async () => {
        mkdirSync(at('folder'));
        await failsToStage(await remove('folder'), 'delete', 'EISDIR');
        await failsToStage(await remove('none'), 'delete', 'ENOENT');
      });

      it('does not come back over a file that was made meanwhile, and says where it lies', async () => {
        put('file', 'old');
        const staged = await commit(await remove('file'));
        put('file', 'made meanwhile');
        const error = await failure(staged.revert());
        assert.equal(error.code, 'ESTALE');
        assert.equal(text('file'), 'made meanwhile');
        assert.equal(readFileSync(error.savedAs ?? '', 'utf8'), 'old');
      });
    });

    describe('a rename', () => {
      it('moves the file itself, into new folders and over a file', async () => {
        put('file', 'moved', 0o755);
        put('target', 'replaced');
        const { ino } = lstatSync(at('file'));
        await apply(await rename('file', at('a/b')));
        assert.equal(lstatSync(at('a/b')).ino, ino);
        await apply(await rename('a/b', at('target')));
        assert.deepEqual([lstatSync(at('target')).ino, text('target')], [ino, 'moved']);
        assert.deepEqual(Object.keys(treeSnapshot(folder.path)), ['a', 'target']);
      });

      it('moves a link as a link', async () => {
        symlinkSync('nowhere', at('link'));
        await apply(await rename('link', at('moved')));
        assert.equal(readlinkSync(at('moved')), 'nowhere');
      });

      it('reverts both ends', async () => {
        put('file', 'moved', 0o755);
        put('target', 'replaced', 0o600);
        await bringsBack(() => rename('file', at('target')));
        await bringsBack(() => rename('file', at('a/b')));
      });

      it('writes into a destination that has further hard links', async () => {
        put('file', 'moved');
        put('target', 'replaced');
        linkSync(at('target'), at('other'));
        await apply(await rename('file', at('target')));
        assert.equal(text('other'), 'moved');
        assert.deepEqual(readdirSync(folder.path), ['other', 'target']);
      });

      it('over another name of the same file leaves that name only', async () => {
        put('file', 'moved');
        linkSync(at('file'), at('other'));
        await bringsBack(() => rename('file', at('other')));
        await apply(await rename('file', at('other')));
        assert.deepEqual(readdirSync(folder.path), ['other']);
      });

      it('copies the file to another device, with its mode', async function () {
        const elsewhere = otherDevice(folder.path);
        if (elsewhere === undefined) this.skip();
        try {
          put('file', 'moved', 0o751);
          await bringsBack(() => rename('file', join(elsewhere, 'a/b')));
          assert.deepEqual(readdirSync(elsewhere), []);
          await apply(await rename('file', join(elsewhere, 'a/b')));
          assert.equal(readFileSync(join(elsewhere, 'a/b'), 'utf8'), 'moved');
          assert.equal(lstatSync(join(elsewhere, 'a/b')).mode & 0o777, 0o751);
          assert.deepEqual([readdirSync(folder.path), readdirSync(join(elsewhere, 'a'))], [[], ['b']]);
        } finally {
          rmSync(elsewhere, { recursive: true });
        }
      });

      it('copies the file to another mount of the same device', async function () {
        mkdirSync(at('mount'));
        mkdirSync(at('source'));
        if (!tryMount('--bind', at('source'), at('mount'))) this.skip();
        try {
          put('file', 'moved', 0o751);
          await bringsBack(() => rename('file', at('mount/a/b')));
          await apply(await rename('file', at('mount/a/b')));
          assert.equal(text('source/a/b'), 'moved');
        } finally {
          execFileSync('umount', [at('mount')]);
        }
        assert.deepEqual(Object.keys(treeSnapshot(folder.path)), [
          'mount',
          'source',
          'source/a',
          'source/a/b',
        ]);
      });
    });

    describe('an entry that is not the expected one', () => {
      const surprises: readonly (readonly [string, (path: string) => void])[] = [
        ['written', (path) => writeFileSync(path, 'new')],
        ['replaced', (path) => (rmSync(path), writeFileSync(path, 'old'))],
        ['given other permissions', (path) => chmodSync(path, 0o600)],
        ['removed', (path) => rmSync(path)],
        ['replaced by a link', (path) => (renameSync(path, `${path}2`), symlinkSync(`${path}2`, path))],
        ['replaced by a folder', (path) => (rmSync(path), mkdirSync(path))],
        ['replaced by a pipe', (path) => (rmSync(path), execFileSync('mkfifo', [path]))],
      ];
      for (const [what, surprise] of surprises) {
        it(`is refused before and after staging: ${what}`, async () => {
          for (const hasLinks of [false, true]) {
            for (const makeChange of [
              () => write('file', 'ours'),
              () => remove('file'),
              () => rename('file', at('to')),
            ]) {
              put('file', 'old');
              if (hasLinks) linkSync(at('file'), at('hard'));
              const staged = await files.stage(await makeChange());
              const late = await makeChange();
              surprise(at('file'));
              const before = treeSnapshot(folder.path);
              await failsToStage(late, late.kind === 'write' ? 'write' : 'delete', 'ESTALE');
              await assert.rejects(staged.commit(), { code: 'ESTALE' });
              assert.deepEqual(treeSnapshot(folder.path), before);
              await staged.release();
              assert.ok(!readdirSync(folder.path).some((name) => name.includes('.cordon-')));
              rmSync(folder.path, { recursive: true });
              mkdirSync(folder.path);
            }
          }
        });
      }

      it('is refused when it came to be', async () => {
        put('from', 'moved');
        const staged = [
          await files.stage(await write('file', 'ours')),
          await files.stage(await rename('from', at('file'))),
        ];
        put('file', 'theirs');
        for (const change of staged) {
          await assert.rejects(change.commit(), isFileError('write', 'ESTALE'));
          await change.release();
        }
        assert.equal(text('file'), 'theirs');
        assert.deepEqual(readdirSync(folder.path), ['file', 'from']);
      });

      it('is not overwritten by a revert, which says where the original lies', async () => {
        put('file', 'old');
        const staged = await commit(await write('file', 'new'));
        put('file', 'changed since');
        const error = await failure(staged.revert());
        assert.equal(error.code, 'ESTALE');
        assert.equal(text('file'), 'changed since');
        assert.equal(readFileSync(error.savedAs ?? '', 'utf8'), 'old');
      });

      it('is not overwritten in place by a revert either', async () => {
        put('file', 'old');
        linkSync(at('file'), at('hard'));
        const staged = await commit(await write('file', 'new'));
        put('file', 'changed since');
        const error = await failure(staged.revert());
        assert.equal(text('file'), 'changed since');
        assert.equal(readFileSync(error.savedAs ?? '', 'utf8'), 'old');
        rmSync(error.savedAs ?? '');
      });
    });
  });
}

describe('The disk, for a user without rights', function () {
  before(function () {
    if (cannotRunUnprivileged !== undefined) {
      console.log(`      skipped: ${cannotRunUnprivileged}`);
      this.skip();
    }
  });

  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await createTemporaryFolder('disk');
    chownSync(folder.path, nobody, nobody);
  });
  afterEach(async () => {
    chmodSync(folder.path, 0o700);
    await folder.dispose();
  });

  const put = (name: string, mode: number, owner = nobody): string => {
    const path = join(folder.path, name);
    writeFileSync(path, 'old');
    chownSync(path, owner, owner);
    chmodSync(path, mode);
    return path;
  };
  /** Commits and reverts, or tells what failed. */
  const attempt = (change: Omit<FileChange, 'expected' | 'bytes'>): unknown =>
    runUnprivileged(`
      import { readFileSync } from 'node:fs';
      import { createDiskFileSystem } from './src/patch/files/diskFileSystem.ts';
      const files = createDiskFileSystem();
      const given = ${JSON.stringify(change)};
      const toExpected = given.toPath && (await files.stat(given.toPath));
      try {
        const change = { ...given, expected: await files.stat(given.path), toExpected, bytes: Buffer.from('new') };
        const staged = await files.stage(change);
        await staged.commit();
        const during = given.kind === 'write' ? readFileSync(given.path, 'utf8') : 'committed';
        await staged.revert();
        console.log(JSON.stringify(during));
      } catch ({ operation, code }) {
        console.log(JSON.stringify([operation, code]));
      }`);

  it('leaves a read-only file alone, although a rename could replace it', () => {
    const path = put('file', 0o444);
    const before = treeSnapshot(folder.path);
    assert.deepEqual(attempt({ kind: 'write', path }), ['write', 'EACCES']);
    assert.deepEqual(treeSnapshot(folder.path), before);
  });

  it('leaves a read-only file alone as the destination of a rename', () => {
    const path = put('source', 0o644);
    const toPath = put('file', 0o444);
    assert.deepEqual(attempt({ kind: 'rename', path, toPath } as FileChange), ['write', 'EACCES']);
  });

  it('removes a read-only file', () => {
    assert.equal(attempt({ kind: 'remove', path: put('file', 0o444) }), 'committed');
  });

  it('writes into a file of a folder that takes no new ones', () => {
    const path = put('file', 0o644);
    chmodSync(folder.path, 0o555);
    const { ino } = statSync(path);
    assert.equal(attempt({ kind: 'write', path }), 'new');
    assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).ino], ['old', ino]);
  });

  it('writes into a file of another owner, which stays the owner', function () {
    if (!isRoot) this.skip();
    const path = put('file', 0o666, 1234);
    assert.equal(attempt({ kind: 'write', path }), 'new');
    const { uid, gid } = statSync(path);
    assert.deepEqual([uid, gid, readFileSync(path, 'utf8')], [1234, 1234, 'old']);
    assert.deepEqual(readdirSync(folder.path), ['file']);
  });

  it('is told before the commit what a closed folder does not allow', () => {
    const path = put('file', 0o644);
    chmodSync(folder.path, 0o555);
    const below = (name: string): string => join(folder.path, name);
    assert.deepEqual(attempt({ kind: 'write', path: below('new') }), ['write', 'EACCES']);
    assert.deepEqual(attempt({ kind: 'write', path: below('a/new') }), ['mkdir', 'EACCES']);
    assert.deepEqual(attempt({ kind: 'remove', path }), ['delete', 'EACCES']);
    assert.deepEqual(attempt({ kind: 'rename', path, toPath: '/tmp/x' } as FileChange), ['delete', 'EACCES']);
  });

  it('works in a folder that it may enter but not list', () => {
    const path = put('file', 0o644);
    chmodSync(folder.path, 0o333);
    assert.equal(attempt({ kind: 'write', path }), 'new');
  });
});

function isFileError(operation: FileOperation, code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof FileError, String(error));
    assert.deepEqual([error.operation, error.code], [operation, code]);
    return true;
  };
}

async function failure(action: Promise<unknown>): Promise<FileError> {
  const error = await action.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(error instanceof FileError, String(error));
  return error;
}

function tryMount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A folder on another device; undefined when this machine has none. */
function otherDevice(path: string): string | undefined {
  const memory = statSync('/dev/shm', { throwIfNoEntry: false });
  return memory === undefined || memory.dev === statSync(path).dev
    ? undefined
    : mkdtempSync('/dev/shm/cordon-');
}
