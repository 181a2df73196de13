import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { layOut } from '../../../src/sandbox/linux/bubblewrap/layOut.ts';
import type { Place } from '../../../src/sandbox/linux/bubblewrap/places.ts';
import { Places } from '../../../src/sandbox/linux/bubblewrap/places.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { cannotRunUnprivileged, runUnprivileged } from '../../harness/unprivileged.ts';

describe('layOut()', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await createTemporaryFolder('layout');
  });
  afterEach(() => folder.dispose());

  const at = (name: string): string => join(folder.path, name);
  const made = (name: string): string => {
    mkdirSync(at(name), { recursive: true });
    return at(name);
  };

  function outcome(list: readonly Place[], shown: readonly string[] = ['/'], home = '/nobody') {
    const places = new Places();
    list.forEach((place) => places.put(place));
    return layOut(places, new Set(shown), home);
  }

  /** Kind and path of each mount below the folder, and the names that are held. */
  function lines(...args: Parameters<typeof outcome>): string[] {
    const layout = outcome(...args);
    assert.ok(layout.ok, layout.ok ? '' : layout.error.message);
    const short = (path: string): string => path.replace(`${folder.path}/`, '');
    return [
      ...layout.value.mounts.map(({ kind, path, source }) =>
        [kind, short(path), ...(source === undefined ? [] : [source])].join(' '),
      ),
      ...layout.value.missing.map((path) => `missing ${short(path)}`),
    ].filter((line) => !line.endsWith(' /'));
  }

  function errorOf(...args: Parameters<typeof outcome>): string {
    const layout = outcome(...args);
    assert.ok(!layout.ok);
    assert.equal(layout.error.kind, 'clause-unenforceable');
    assert.match(layout.error.hint, /\w/);
    return layout.error.message;
  }

  it('makes no mount for what is shown anyway', () => {
    made('a/b/c');
    const list: Place[] = [
      { path: '/', shows: 'read' },
      { path: at('a'), shows: 'write' },
      { path: at('a/b'), shows: 'write' },
      { path: at('a/b/c'), shows: 'read' },
    ];
    assert.deepEqual(lines(list), ['write a', 'read a/b/c']);
  });

  it('closes folders, covers files, and lets pass through folders with something visible in them', () => {
    made('closed');
    made('passage/in/open');
    writeFileSync(at('file'), '');
    const list: Place[] = [
      { path: '/', shows: 'read' },
      { path: at('closed'), shows: 'none' },
      { path: at('file'), shows: 'none' },
      { path: at('passage'), shows: 'none' },
      { path: at('passage/in/open'), shows: 'read' },
    ];
    assert.deepEqual(lines(list).sort(), [
      'closed closed',
      'passage passage',
      'read passage/in/open',
      'unreadable file',
    ]);
  });

  it('hides nothing twice, and nothing in what is the sandbox’s own', () => {
    const list: Place[] = [
      { path: '/', shows: 'none' },
      { path: made('secret'), shows: 'none' },
      { path: made('tmp'), shows: 'scratch' },
      { path: made('tmp/hidden'), shows: 'none' },
      { path: made('cache'), shows: 'write', source: '/private' },
      { path: made('cache/hidden'), shows: 'none' },
      { path: made('cache/programs'), shows: 'read' },
    ];
    assert.deepEqual(lines(list), [
      ...['scratch tmp', 'write cache /private', 'read cache/programs', 'folder /nobody'],
    ]);
  });

  it('holds the first missing name of what must not come to be, in folders that may be written only', () => {
    const list: Place[] = [
      { path: '/', shows: 'read' },
      { path: made('w'), shows: 'write' },
      { path: at('w/x/y'), shows: 'read' },
      { path: at('w/z'), shows: 'none' },
      { path: at('w/v'), shows: 'write' },
      { path: at('r/x'), shows: 'none' },
    ];
    assert.deepEqual(lines(list), ['write w', 'missing w/z', 'missing w/x']);
  });

  it('refuses a rule for what a link stands at or above now', () => {
    made('w/there');
    made('w/before');
    symlinkSync('there', at('w/link'));
    for (const path of ['w/link', 'w/link/x']) {
      if (path.endsWith('x')) {
        writeFileSync(at('w/there/x'), '');
      }
      const list: Place[] = [
        { path: '/', shows: 'read' },
        { path: at('w'), shows: 'write' },
        // What is known of the folder by then says nothing about another name in it.
        { path: at('w/before'), shows: 'none' },
        { path: at(path), shows: 'none' },
      ];
      assert.match(errorOf(list), new RegExp(`${path} has a rule, but is or lies behind a symbolic link`));
    }
  });

  it('refuses a rule for a name below a file that a command could replace', () => {
    made('w');
    writeFileSync(at('w/file'), '');
    const list: Place[] = [
      { path: '/', shows: 'read' },
      { path: at('w'), shows: 'write' },
      { path: at('w/file/x'), shows: 'none' },
    ];
    assert.match(errorOf(list), /w\/file on the way to it is not a folder/);
  });

  it('refuses a rule behind a folder that only a command may open, and passes one that nobody can', function () {
    if (cannotRunUnprivileged !== undefined) this.skip();
    made('w/shut');
    chmodSync(folder.path, 0o755);
    chmodSync(at('w/shut'), 0o700);
    const module = `
      import { layOut } from './src/sandbox/linux/bubblewrap/layOut.ts';
      import { Places } from './src/sandbox/linux/bubblewrap/places.ts';
      const outcomes = ['write', 'read'].map((shows) => {
        const places = new Places();
        places.put({ path: '/', shows: 'read' });
        places.put({ path: ${JSON.stringify(at('w'))}, shows });
        places.put({ path: ${JSON.stringify(at('w/shut/x'))}, shows: 'none' });
        const layout = layOut(places, new Set(['/']), '/nobody');
        return layout.ok ? layout.value.mounts.length : layout.error.message;
      });
      console.log(JSON.stringify(outcomes));`;
    if (process.getuid?.() !== 0) {
      chmodSync(at('w/shut'), 0o000);
    }
    const [writable, readable] = runUnprivileged(module) as [string, number];
    assert.match(writable, /w\/shut\/x has a rule, but Cordon may not enter the folder above it/);
    assert.equal(readable, 1);
  });

  it('shows homes with their links to what is visible, and the home folder in a hidden one', () => {
    const homes = made('homes');
    const list: Place[] = [
      { path: '/', shows: 'read' },
      { path: homes, shows: 'none' },
      { path: made('homes/ann/open'), shows: 'read' },
      { path: made('homes/ann/hidden'), shows: 'none' },
    ];
    symlinkSync('/usr', at('homes/visible'));
    symlinkSync('ann/hidden', at('homes/secret'));
    symlinkSync('nowhere', at('homes/nowhere'));
    assert.deepEqual(lines(list, [homes], at('homes/ann')).sort(), [
      'link homes/visible /usr',
      'read homes/ann/open',
      // Not a mere folder: what lies on the way to the open one has names that nobody may list.
      'shown homes',
      'shown homes/ann',
    ]);
    rmSync(at('homes/ann'), { recursive: true });
    assert.deepEqual(lines(list.slice(0, 2), [homes], at('homes/ann')), [
      'shown homes',
      'link homes/visible /usr',
      'folder homes/ann',
    ]);
  });
});
