import assert from 'node:assert/strict';
import { readOnlyPattern } from '../../../src/patch/apply/readOnlyRules.ts';

describe('readOnlyPattern()', () => {
  const folder = '/work/root';
  const cases: readonly (readonly [
    path: string,
    include: Readonly<Record<string, boolean>>,
    exclude: Readonly<Record<string, boolean>>,
    pattern: string | undefined,
  ])[] = [
    ['/work/root/a.txt', {}, {}, undefined],
    ['/work/root/a.txt', { '**/*.txt': true }, {}, '**/*.txt'],
    ['/work/root/a.txt', { '**/*.txt': false }, {}, undefined],
    ['/work/root/sub/a.txt', { '*.txt': true }, {}, undefined],
    ['/work/root/dist/deep/a.js', { 'dist/**': true }, {}, 'dist/**'],
    ['/work/root/.config/a', { '**/a': true }, {}, '**/a'],
    ['/work/root/a.txt', { '/work/root/*.txt': true }, {}, '/work/root/*.txt'],
    ['/work/root/a.{b', { '**/*.{js,{b}': true }, {}, undefined],
    ['/work/root/a.txt', { '**/*.txt': true }, { '**/a.txt': true }, undefined],
    ['/elsewhere/a.txt', { '**/a.txt': true }, {}, '**/a.txt'],
    ['/elsewhere/a.txt', { 'a.txt': true }, {}, undefined],
  ];
  for (const [path, include, exclude, pattern] of cases) {
    it(`gives ${pattern ?? 'nothing'} for ${path} under ${JSON.stringify([include, exclude])}`, () => {
      assert.equal(readOnlyPattern(path, { include, exclude, folder }), pattern);
    });
  }
});
