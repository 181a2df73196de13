import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { TreeFindings } from '../../../src/sandbox/linux/treeIndex.ts';
import { TreeIndex } from '../../../src/sandbox/linux/treeIndex.ts';
import type { HiddenGlob } from '../../../src/sandbox/policy/fileRules.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { cannotRunUnprivileged, runUnprivileged } from '../../harness/unprivileged.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('TreeIndex', () => {
  let folder: TemporaryFolder;
  let index: TreeIndex;
  beforeEach(async () => {
    folder = await createTemporaryFolder('tree');
    index = new TreeIndex(folder.path);
  });
  afterEach(() => folder.dispose());

  const at = (name: string): string => join(folder.path, name);
  const write = (...names: string[]): void => {
    for (const name of names) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), '');
    }
  };
  const glob = (text: string, base = folder.path): HiddenGlob => ({
    folder: base,
    glob: text,
    source: 'default',
  });
  const read = async (...globs: readonly HiddenGlob[]): Promise<TreeFindings> => {
    const findings = await index.read(globs);
    assert.ok(findings.ok);
    return findings.value;
  };

  it('finds what globs match, at every depth, folders and links included', async () => {
    write('.env', 'a/.env', 'a/b/c/.env.local', 'a/env', 'keys/id/one');
    symlinkSync('nowhere', at('a/.envrc'));
    const { hidden } = await read(glob('**/.env*'), glob('keys'));
    assert.deepEqual(
      [...hidden].sort(),
      ['.env', 'a/.env', 'a/.envrc', 'a/b/c/.env.local', 'keys'].map(at).sort(),
    );
  });

  it('looks neither into dependencies, repositories nor through links', async () => {
    write('node_modules/.env', '.git/.env', 'real/.env');
    symlinkSync('real', at('link'));
    assert.deepEqual((await read(glob('**/.env'))).hidden, [at('real/.env')]);
  });

  it('applies a glob from its own folder on', async () => {
    write('a/secret', 'b/secret');
    assert.deepEqual((await read(glob('secret', at('a')))).hidden, [at('a/secret')]);
    assert.deepEqual((await read(glob('**/secret', dirname(folder.path)))).hidden.length, 2);
  });

  it('finds repositories below the top, and folders that look like one', async () => {
    write(
      '.git/HEAD',
      'sub/.git',
      'nested/.git/HEAD',
      'bare/HEAD',
      'admin/HEAD',
      'admin/commondir',
      'half/HEAD',
    );
    mkdirSync(at('bare/objects'));
    mkdirSync(at('bare/refs'));
    const { repositories, bareRepositories } = await read();
    assert.deepEqual([...repositories].sort(), [at('nested/.git'), at('sub/.git')]);
    assert.deepEqual([...bareRepositories].sort(), [at('admin'), at('bare')]);
  });

  it('finds every name of a file with more than one', async () => {
    write('a/one', 'b/other');
    assert.deepEqual((await read()).linkedFiles, []);
    mkdirSync(at('c'));
    linkSync(at('a/one'), at('c/two'));
    const { linkedFiles } = await read();
    assert.deepEqual(linkedFiles.map(({ path }) => path).sort(), [at('a/one'), at('c/two')]);
    assert.equal(new Set(linkedFiles.map(({ identity }) => identity)).size, 1);
  });

  it('notices what came, went, moved and was replaced since the last reading', async () => {
    write('a/x/.env', 'b/.env', 'c/file');
    await read(glob('**/.env'));
    write('c/.env', 'd/e/.env');
    rmSync(at('b/.env'));
    renameSync(at('a/x'), at('c/x'));
    assert.deepEqual([...(await read(glob('**/.env'))).hidden].sort(), [
      at('c/.env'),
      at('c/x/.env'),
      at('d/e/.env'),
    ]);
    rmSync(at('c'), { recursive: true });
    symlinkSync('d', at('c'));
    assert.deepEqual((await read(glob('**/.env'))).hidden, [at('d/e/.env')]);
  });

  it('notices what changed in the same step of the clock as the last reading', async () => {
    mkdirSync(at('a'));
    for (let count = 1; count <= 50; count++) {
      write(`a/.env${count}`);
      assert.equal((await read(glob('**/.env*'))).hidden.length, count);
    }
  });

  it('lists nothing again while nothing changes', async () => {
    write('a/.env');
    // Until the changes are older than the steps of the clock, every reading lists again.
    const settled = await waitFor('two equal readings', async () => {
      const first = await read(glob('**/.env'));
      return first === (await read(glob('**/.env'))) ? first : undefined;
    });
    assert.deepEqual(settled.hidden, [at('a/.env')]);
  });

  it('is not deceived by a time of modification that was set back', async () => {
    write('a/x');
    await waitFor(
      'two equal readings',
      async () => (await read(glob('**/.env'))) === (await read(glob('**/.env'))),
    );
    write('a/.env');
    utimesSync(at('a'), 1, 1);
    assert.deepEqual((await read(glob('**/.env'))).hidden, [at('a/.env')]);
    utimesSync(at('a'), 1, 1);
    rmSync(at('a/.env'));
    utimesSync(at('a'), 1, 1);
    assert.deepEqual((await read(glob('**/.env'))).hidden, []);
  });

  it('answers another question about the same tree', async () => {
    write('a/.env', 'a/key');
    await read(glob('**/.env'));
    assert.deepEqual((await read(glob('**/key'))).hidden, [at('a/key')]);
  });

  it('does not claim to know a folder with something in it that has no usable path', async () => {
    write('a/.env', 'b/plain');
    mkdirSync(Buffer.concat([Buffer.from(at('a/')), Buffer.from([0xff])]));
    const long = 'd'.repeat(200);
    // By steps: the whole path is longer than any call takes.
    execFileSync('/bin/bash', ['-c', `for n in {1..25}; do mkdir ${long} && cd -P ${long} || exit; done`], {
      cwd: at('b'),
    });
    const { hidden, unlisted } = await read(glob('**/.env'));
    assert.deepEqual(hidden, [at('a/.env')]);
    const [known, deep = '', ...others] = unlisted.toSorted();
    assert.deepEqual([known, others], [at('a'), []]);
    assert.match(deep, new RegExp(`^${at('b')}(/${long}){10,19}$`));
    execFileSync('rm', ['-r', at('b')]);
  });

  it('does not claim to know a folder that this user lists but may not enter', function () {
    if (cannotRunUnprivileged !== undefined) this.skip();
    write('a/b/file', 'c/file');
    chmodSync(folder.path, 0o755);
    chmodSync(at('a'), 0o444);
    const findings = runUnprivileged(`
      import { TreeIndex } from './src/sandbox/linux/treeIndex.ts';
      const { value } = await new TreeIndex(${JSON.stringify(folder.path)}).read();
      console.log(JSON.stringify(value.unlisted));
    `);
    assert.deepEqual(findings, [at('a')]);
  });

  it('refuses a top with a folder in it that has no usable path, until it has one', async () => {
    const name = Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff])]);
    mkdirSync(name);
    const refused = await index.read();
    assert.ok(!refused.ok);
    assert.match(refused.error.message, /has a folder whose name is not UTF-8/);
    renameSync(name, at('usable'));
    await read();
  });

  it('is empty where the top is missing, and fills when it comes', async () => {
    index = new TreeIndex(at('later'));
    assert.deepEqual((await read(glob('**'))).hidden, []);
    write('later/x');
    assert.deepEqual((await read(glob('**'))).hidden, [at('later/x')]);
  });

  it('refuses a tree that is too big to be known', async () => {
    write('a/1', 'b/2', 'c/3');
    index = new TreeIndex(folder.path, 3);
    const findings = await index.read();
    assert.ok(!findings.ok && findings.error.kind === 'clause-unenforceable');
    assert.ok(findings.error.message.startsWith(`${folder.path} has more than 3 folders`));
    rmSync(at('c'), { recursive: true });
    assert.ok((await index.read()).ok);
  });
});
