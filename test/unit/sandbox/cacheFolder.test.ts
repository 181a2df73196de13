import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openPrivateCaches, ownCacheFolder } from '../../../src/sandbox/linux/cacheFolder.ts';
import { cachePlaces, toolCaches } from '../../../src/sandbox/policy/files/toolCaches.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

describe('toolCaches', () => {
  it('are folders of their own: none lies in another, and each has a part', () => {
    const folders = toolCaches.map(({ folder }) => folder);
    assert.equal(new Set(folders).size, folders.length);
    for (const { folder, parts } of toolCaches) {
      assert.ok(!folders.some((other) => other.startsWith(`${folder}/`)), folder);
      assert.ok(parts.length > 0, folder);
    }
  });

  it('keep no credentials', () => {
    const kept = toolCaches.flatMap(({ folder, keeps }) => keeps.map((name) => `${folder}/${name}`));
    assert.ok(kept.includes('.cargo/bin'));
    assert.deepEqual(
      kept.filter((path) => /credential|auth|token|settings|npmrc/.test(path)),
      [],
    );
  });

  it('have as shared places what is cache and nothing else', () => {
    assert.ok(cachePlaces.includes('.cache') && cachePlaces.includes('.cargo/registry'));
    assert.ok(!cachePlaces.includes('.cargo') && !cachePlaces.includes('.npm'));
  });
});

describe('ownCacheFolder()', () => {
  it('is below XDG_CACHE_HOME when that is absolute, or else in the home folder', () => {
    assert.equal(ownCacheFolder('/no/home', { XDG_CACHE_HOME: '/no/cache' }), '/no/cache/cordon');
    assert.equal(ownCacheFolder('/no/home', { XDG_CACHE_HOME: 'cache' }), '/no/home/.cache/cordon');
    assert.equal(ownCacheFolder('/no/home', {}), '/no/home/.cache/cordon');
  });
});

describe('openPrivateCaches()', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await createTemporaryFolder('caches');
  });
  afterEach(() => folder.dispose());

  function opened(root: string): string {
    const caches = openPrivateCaches(join(folder.path, 'cordon'), root, toolCaches);
    assert.ok(caches.ok, caches.ok ? '' : caches.error.message);
    return caches.value;
  }
  function refusal(): string {
    const caches = openPrivateCaches(join(folder.path, 'cordon'), '/root/one', toolCaches);
    assert.ok(!caches.ok);
    assert.equal(caches.error.kind, 'clause-unenforceable');
    assert.match(caches.error.hint, /cordon\.sandbox\.caches/);
    return caches.error.message;
  }

  it('gives each root a folder that only this user enters, with a place for each tool', () => {
    const one = opened('/root/one');
    assert.notEqual(one, opened('/root/two'));
    for (const { folder: tool } of toolCaches) {
      assert.ok(statSync(join(one, tool)).isDirectory(), tool);
    }
    for (const path of ['cordon', 'cordon/caches'].map((name) => join(folder.path, name)).concat(one)) {
      assert.equal(statSync(path).mode & 0o777, 0o700, path);
    }
    assert.equal(readdirSync(join(folder.path, 'cordon/caches')).length, 2);
  });

  it('gives the same root the same folder again, with what is in it', () => {
    writeFileSync(join(opened('/root/one'), '.npm/kept'), '');
    assert.deepEqual(readdirSync(join(opened('/root/one'), '.npm')), ['kept']);
  });

  it('makes again what somebody has removed', () => {
    const caches = opened('/root/one');
    rmdirSync(join(caches, '.npm'));
    assert.ok(statSync(join(opened('/root/one'), '.npm')).isDirectory());
    rmSync(join(folder.path, 'cordon'), { recursive: true });
    assert.ok(statSync(join(opened('/root/one'), '.npm')).isDirectory());
  });

  it('refuses a folder in which others may write', () => {
    mkdirSync(join(folder.path, 'cordon'));
    chmodSync(join(folder.path, 'cordon'), 0o777);
    assert.match(refusal(), /cordon, for caches .*others may write in it/);
  });

  it('refuses a link and a file in the place of a folder', () => {
    mkdirSync(join(folder.path, 'cordon'), { mode: 0o700 });
    symlinkSync(folder.path, join(folder.path, 'cordon/caches'));
    assert.match(refusal(), /caches, for caches .*it is not a folder/);
  });
});
