import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createAccessUnder } from '../../../src/patch/accessUnder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { testPolicy } from '../../harness/testRuntime.ts';

describe('createAccessUnder()', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await createTemporaryFolder('access');
  });
  afterEach(() => folder.dispose());

  it('protects what later runs trust inside a writable root, by its real path', () => {
    mkdirSync(join(folder.path, 'extension/dist'), { recursive: true });
    symlinkSync(join(folder.path, 'extension'), join(folder.path, 'link'));
    const access = createAccessUnder([join(folder.path, 'link')])(testPolicy(folder.path));
    assert.equal(access(join(folder.path, 'extension/dist/cli.js'))?.reason, 'protected');
    assert.equal(access(join(folder.path, 'extension'))?.reason, 'protected');
    assert.equal(access(join(folder.path, 'extension-2')), undefined);
  });

  it('does not protect a root from itself that was opened inside a trusted folder', () => {
    const root = join(folder.path, 'project');
    mkdirSync(root);
    const access = createAccessUnder([folder.path])(testPolicy(root));
    assert.equal(access(join(root, 'a')), undefined);
  });

  it('protects the running program', () => {
    const program = realpathSync(process.execPath);
    assert.equal(createAccessUnder()(testPolicy(dirname(program)))(program)?.reason, 'protected');
  });

  it('opens the temporary folders of the machine where commands share them', () => {
    assert.equal(createAccessUnder()(testPolicy('/srv', { tmp: 'private' }))('/tmp/a')?.reason, 'outside');
    assert.equal(createAccessUnder()(testPolicy('/srv', { tmp: 'shared' }))('/tmp/a'), undefined);
  });
});
