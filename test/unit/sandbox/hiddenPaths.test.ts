import assert from 'node:assert/strict';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hiddenPaths, searchedTrees } from '../../../src/sandbox/linux/hiddenPaths.ts';
import { TreeIndexes } from '../../../src/sandbox/linux/treeIndexes.ts';
import type { Access, FileRule } from '../../../src/sandbox/policy/fileRules.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import { policyOf } from '../../harness/policyOf.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

describe('hiddenPaths()', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await createTemporaryFolder('hidden');
    mkdirSync(at('root'));
  });
  afterEach(() => folder.dispose());

  const at = (name: string): string => join(folder.path, name);
  const write = (...names: string[]): void => {
    for (const name of names) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), '');
    }
  };
  function policy(
    rules: Readonly<Record<string, Access>>,
    globs: readonly string[] = [],
    changes: Partial<FileRule> = {},
  ): SandboxPolicy {
    const files = Object.entries<Access>({ root: 'write', ...rules }).map(([name, access]) => ({
      path: at(name),
      access,
      source: 'user' as const,
      ...(access === 'none' && changes),
    }));
    return policyOf(at('root'), {
      files: [{ path: '/', access: 'read', source: 'user' }, ...files],
      hidden: globs.map((glob) => ({ folder: at('root'), glob, source: 'user' })),
    });
  }
  async function hidden(given: SandboxPolicy): Promise<string[]> {
    const tree = await new TreeIndexes().read([...searchedTrees(given), at('root')], given.hidden);
    assert.ok(tree.ok);
    return hiddenPaths(given, tree.value)
      .map((path) => path.replace(`${folder.path}/`, ''))
      .sort();
  }

  it('has what globs match, except for what a rule says something else about', async () => {
    write('root/.env', 'root/a/.env', 'root/b/.env', 'root/open');
    assert.deepEqual(await hidden(policy({ 'root/a': 'read', 'root/b/.env': 'read' }, ['**/.env'])), [
      ...['root/.env', 'root/a/.env'],
    ]);
    assert.deepEqual(await hidden(policy({}, ['**/.env'])), ['root/.env', 'root/a/.env', 'root/b/.env']);
  });

  it('has what a matching link leads to, and not the link', async () => {
    write('outside/key', 'outside/folder/in');
    symlinkSync(at('outside/key'), at('root/a.pem'));
    symlinkSync(at('outside/folder'), at('root/b.pem'));
    symlinkSync('nowhere', at('root/c.pem'));
    assert.deepEqual(await hidden(policy({}, ['*.pem'])), ['outside/folder', 'outside/key']);
  });

  it('lets no link hide a folder with anything of the policy in it', async () => {
    symlinkSync('..', at('root/up.pem'));
    assert.deepEqual(await hidden(policy({}, ['*.pem'])), []);
  });

  it('has the further names of hidden files: of globs, of rules, behind links', async () => {
    write('root/.env', 'secret/key', 'root/plain', 'outside/folder/in');
    linkSync(at('root/.env'), at('root/one'));
    linkSync(at('secret/key'), at('root/two'));
    linkSync(at('outside/folder/in'), at('root/three'));
    linkSync(at('root/plain'), at('root/four'));
    symlinkSync(at('outside/folder'), at('root/b.pem'));
    const globs = ['.env', '*.pem'];
    assert.deepEqual(await hidden(policy({ secret: 'none' }, globs)), [
      ...['outside/folder', 'root/.env', 'root/one', 'root/three', 'root/two'],
    ]);
    assert.deepEqual(await hidden(policy({ 'secret/key': 'none' })), ['root/two']);
  });

  it('leaves a further name that has a rule of its own, and names in places opened further down', async () => {
    write('secret/key', 'secret/open/in');
    linkSync(at('secret/key'), at('root/one'));
    linkSync(at('secret/open/in'), at('root/two'));
    const rules = { secret: 'none', 'secret/open': 'read' } as const;
    assert.deepEqual(await hidden(policy(rules)), ['root/one']);
    assert.deepEqual(await hidden(policy({ ...rules, 'root/one': 'read' })), []);
  });

  it('takes no file of a hidden home for a secret: tools link files from stores there', async () => {
    write('home/store/file');
    linkSync(at('home/store/file'), at('root/file'));
    assert.deepEqual(await hidden(policy({ home: 'none' }, [], { writtenAs: ':home' })), []);
    assert.deepEqual(await hidden(policy({ home: 'none' })), ['root/file']);
  });
});

describe('searchedTrees()', () => {
  const hidden = [{ folder: '/a', glob: 'x', source: 'user' }] as const;
  const rule = (path: string, access: Access): FileRule => ({ path, access, source: 'user' });

  it('are the folders of the globs, or what is opened in one that is hidden', () => {
    const open = policyOf('/a/w', { files: [rule('/', 'read'), rule('/a/w', 'write')], hidden });
    assert.deepEqual(searchedTrees(open), ['/a']);
    const shut = policyOf('/a/w', {
      files: [rule('/', 'none'), rule('/a/w', 'write'), rule('/a/n', 'none'), rule('/b', 'read')],
      hidden,
    });
    assert.deepEqual(searchedTrees(shut), ['/a/w']);
  });
});
