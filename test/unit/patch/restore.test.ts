import assert from 'node:assert/strict';
import type { Checkpoint, FileState } from '../../../src/patch/checkpoint/checkpoint.ts';
import { hashOf } from '../../../src/patch/checkpoint/checkpointStore.ts';
import { planRestore } from '../../../src/patch/checkpoint/restore.ts';
import type { RestoredFile } from '../../../src/patch/checkpoint/restore.ts';
import type { Entry, FileSystem } from '../../../src/patch/files/fileSystem.ts';

describe('planRestore()', () => {
  const lines = (...names: readonly string[]): string => names.map((name) => `${name}\n`).join('');
  const before = lines('one', 'two', 'three', 'four', 'five');
  const after = lines('one', 'TWO', 'three', 'four', 'five');

  it('has nothing to do for a file that is what it was', async () => {
    assert.deepEqual(await restore([{ before, after, now: before }]), []);
    assert.deepEqual(await restore([{ after, now: undefined }]), []);
    assert.deepEqual(await restore([{ before, now: before }]), []);
  });

  it('gives a file that is still as applied exactly its bytes back', async () => {
    assert.deepEqual(await restore([{ before, after, now: after }]), [['exact', before]]);
  });

  it('removes a file that the patch created', async () => {
    assert.deepEqual(await restore([{ after, now: after }]), [['exact', undefined]]);
  });

  it('brings a deleted file back, with its permission bits', async () => {
    const [file] = await restored([{ before, beforeMode: 0o750, now: undefined }]);
    assert.equal(file?.content?.toString(), before);
    assert.equal(file?.mode, 0o750);
  });

  it('brings a file back that was deleted after the patch', async () => {
    assert.deepEqual(await restore([{ before, after, now: undefined }]), [['exact', before]]);
  });

  it('keeps what was edited elsewhere in the file since', async () => {
    const now = lines('one', 'TWO', 'three', 'four', 'five', 'six');
    assert.deepEqual(await restore([{ before, after, now }]), [
      ['merged', lines('one', 'two', 'three', 'four', 'five', 'six')],
    ]);
  });

  it('keeps CRLF, byte order mark and a missing final newline in a merge', async () => {
    const dos = (text: string): string => `\ufeff${text.replaceAll('\n', '\r\n')}last`;
    const now = dos(lines('zero', 'one', 'TWO', 'three', 'four', 'five'));
    assert.deepEqual(await restore([{ before: dos(before), after: dos(after), now }]), [
      ['merged', dos(lines('zero', 'one', 'two', 'three', 'four', 'five'))],
    ]);
  });

  it('marks the place that both changed, and keeps both', async () => {
    const now = lines('one', 'Two!', 'three', 'four', 'five');
    assert.deepEqual(await restore([{ before, after, now }]), [
      [
        'conflict',
        lines(
          'one',
          '<<<<<<< now',
          'Two!',
          '=======',
          'two',
          '>>>>>>> before the patch',
          'three',
          'four',
          'five',
        ),
      ],
    ]);
  });

  it('closes a last line without line end before a marker', async () => {
    assert.deepEqual(await restore([{ before: 'a', after: 'b', now: 'c' }]), [
      ['conflict', lines('<<<<<<< now', 'c', '=======', 'a', '>>>>>>> before the patch')],
    ]);
  });

  it('takes the same change on both sides for no conflict', async () => {
    const now = lines('one', 'two', 'three', 'four', 'FIVE');
    assert.deepEqual(await restore([{ before, after, now }]), [['merged', now]]);
  });

  it('leaves it to a person whether a created file that was edited since goes away', async () => {
    assert.deepEqual(await restore([{ after, now: `${after}more\n` }]), [['conflict', undefined]]);
  });

  it('leaves it to a person what becomes of a deleted file that somebody made anew', async () => {
    const [file] = await restored([{ before: 'old\n', now: 'new\n' }]);
    assert.equal(file?.outcome, 'conflict');
    assert.match(file?.content?.toString() ?? '', /<<<<<<< now\nnew\n=======\nold\n>>>>>>> /);
  });

  it('does not merge what is no text', async () => {
    const binary = (last: number): Buffer => Buffer.from([0, 255, last]);
    const [file] = await restored([{ before: binary(1), after: binary(2), now: binary(3) }]);
    assert.equal(file?.outcome, 'conflict');
    assert.deepEqual(file?.content, binary(1));
  });

  it('moves a renamed file back, with what was edited at its new place', async () => {
    const now = `${after}six\n`;
    const files = [
      { before, now: undefined },
      { after, now, movedFrom: '/root/0' },
    ];
    assert.deepEqual(await restore(files), [
      ['merged', `${before}six\n`],
      ['exact', undefined],
    ]);
  });

  it('restores what a rename replaced', async () => {
    const files = [
      { before, now: undefined },
      { before: 'replaced\n', after, now: after, movedFrom: '/root/0' },
    ];
    assert.deepEqual(await restore(files), [
      ['exact', before],
      ['exact', 'replaced\n'],
    ]);
  });

  it('restores permission bits, unless somebody changed them since', async () => {
    const file = { before, beforeMode: 0o755, after, afterMode: 0o644, now: after };
    assert.equal((await restored([{ ...file, nowMode: 0o644 }]))[0]?.mode, 0o755);
    assert.equal((await restored([{ ...file, nowMode: 0o600 }]))[0]?.mode, undefined);
  });

  it('restores a link', async () => {
    const [file] = await restored([{ beforeLink: 'target', now: undefined }]);
    assert.equal(file?.link, 'target');
    assert.equal(file?.content, undefined);
    assert.deepEqual(await restored([{ beforeLink: 'target', nowLink: 'target', now: undefined }]), []);
  });

  it('fails when a folder or another link stands in the way, and names it', async () => {
    for (const entry of [{ kind: 'folder' }, { kind: 'link', target: 'x' }] as const) {
      const result = await plan([{ before, after, now: undefined, nowEntry: entry }]);
      assert.equal(result.ok, false);
      assert.match(result.error.message, /\/root\/0 cannot be restored: there is a (folder|link)/);
    }
  });

  it('fails when a kept content is damaged', async () => {
    const result = await planRestore(checkpointOf([{ before, after, now: after }]), {
      files: filesOf([{ before, after, now: after }]),
      content: () => Promise.reject(new Error('it is damaged')),
    });
    assert.equal(result.ok, false);
    assert.match(result.error.message, /it is damaged/);
  });
});

/** A file of a checkpoint and what is there now; undefined contents mean that there is no file. */
interface Case {
  readonly before?: string | Buffer;
  readonly beforeMode?: number;
  readonly beforeLink?: string;
  readonly after?: string | Buffer;
  readonly afterMode?: number;
  readonly now: string | Buffer | undefined;
  readonly nowMode?: number;
  readonly nowLink?: string;
  readonly nowEntry?: Entry;
  readonly movedFrom?: string;
}

/** Outcome and content of each file that is to change. */
async function restore(cases: readonly Case[]): Promise<readonly (readonly [string, string | undefined])[]> {
  return (await restored(cases)).map(({ outcome, content }) => [outcome, content?.toString()]);
}

async function restored(cases: readonly Case[]): Promise<readonly RestoredFile[]> {
  const result = await plan(cases);
  if (!result.ok) {
    throw new Error(result.error.message);
  }
  return result.value.files;
}

function plan(cases: readonly Case[]): ReturnType<typeof planRestore> {
  const contents = cases.flatMap(({ before, after }) => [before, after]).filter((text) => text !== undefined);
  const byHash = new Map(contents.map((text) => [hashOf(Buffer.from(text)), Buffer.from(text)]));
  return planRestore(checkpointOf(cases), {
    files: filesOf(cases),
    content: async (hash) => byHash.get(hash) ?? Promise.reject(new Error(`no content ${hash}`)),
  });
}

function checkpointOf(cases: readonly Case[]): Checkpoint {
  return {
    version: 1,
    id: '1-00000000',
    createdAt: new Date(1).toISOString(),
    newFolders: [],
    title: 'patch',
    root: '/root',
    cwd: '/root',
    files: cases.map(({ before, beforeMode, beforeLink, after, afterMode, movedFrom }, index) => ({
      path: `/root/${index}`,
      name: String(index),
      before: beforeLink === undefined ? stateOf(before, beforeMode) : { kind: 'link', target: beforeLink },
      after: stateOf(after, afterMode),
      ...(movedFrom === undefined ? {} : { movedFrom }),
    })),
  };
}

function stateOf(content: string | Buffer | undefined, mode = 0o644): FileState {
  const bytes = content === undefined ? undefined : Buffer.from(content);
  return bytes === undefined
    ? { kind: 'missing' }
    : { kind: 'file', hash: hashOf(bytes), size: bytes.length, mode };
}

function filesOf(cases: readonly Case[]): FileSystem {
  const at = (path: string): Case => cases[Number(path.slice('/root/'.length))] as Case;
  return {
    async stat(path) {
      const { now, nowMode = 0o644, nowLink, nowEntry } = at(path);
      if (nowEntry !== undefined || nowLink !== undefined) {
        return nowEntry ?? { kind: 'link', target: nowLink ?? '' };
      }
      return now === undefined
        ? { kind: 'missing' }
        : { kind: 'file', mode: nowMode, size: Buffer.byteLength(now), version: '1' };
    },
    read: async (path) => Buffer.from(at(path).now ?? ''),
    stage: () => Promise.reject(new Error('a plan writes nothing')),
  };
}
