import assert from 'node:assert/strict';
import type { FileRule, FileRules } from '../../../../src/sandbox/policy/fileRules.ts';
import { accessTo } from '../../../../src/sandbox/policy/fileRules.ts';
import { narrowRules, stricter } from '../../../../src/sandbox/policy/files/narrowRules.ts';
import { Random } from '../../../harness/random.ts';
import { randomPath, randomRules } from '../../../harness/randomRules.ts';

const rule = (path: string, access: FileRule['access'], source: FileRule['source'] = 'user'): FileRule => ({
  path,
  access,
  source,
});
const rules = (...files: FileRule[]): FileRules => ({ files, hidden: [] });

describe('narrowRules()', () => {
  it('gives every path the stricter of both answers, over random rules and globs', () => {
    let lowered = 0;
    for (let seed = 1; seed <= 4_000; seed += 1) {
      const random = new Random(seed);
      const own = randomRules(random, 'user', true);
      const by = randomRules(random, 'workspace', false);
      const narrowed = narrowRules(own, by);
      const limit: FileRules = { ...by, files: [...by.files, rule('/', 'write')] };
      const paths = [
        ...[...own.files, ...by.files].map(({ path }) => path),
        ...Array.from({ length: 30 }, () => randomPath(random)),
      ];
      for (const path of paths) {
        const expected = stricter(accessTo(own, path), accessTo(limit, path));
        assert.equal(
          accessTo(narrowed, path),
          expected,
          `seed ${seed}, ${path}: ${JSON.stringify({ own, by })}`,
        );
        lowered += expected === accessTo(own, path) ? 0 : 1;
      }
    }
    assert.ok(lowered > 10_000, `only ${lowered} answers were narrowed: the rules hardly meet`);
  });

  it('gives each path one rule', () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const random = new Random(seed);
      const narrowed = narrowRules(
        randomRules(random, 'user', true),
        randomRules(random, 'workspace', false),
      );
      const paths = narrowed.files.map(({ path }) => path);
      assert.equal(new Set(paths).size, paths.length);
    }
  });

  it('does not lift a deeper rule, nor reach above its own', () => {
    const own = rules(rule('/', 'read'), rule('/w', 'write'), rule('/w/secret', 'none'));
    const by = rules(rule('/w', 'read', 'workspace'), rule('/w/secret', 'write', 'workspace'));
    assert.deepEqual(narrowRules(own, by).files, [
      rule('/', 'read'),
      rule('/w', 'read', 'workspace'),
      rule('/w/secret', 'none'),
    ]);
  });

  it('leaves out rules that change nothing', () => {
    const own = rules(rule('/', 'read'), rule('/w', 'write'));
    const by = rules(rule('/w/a', 'write', 'workspace'), rule('/etc', 'read', 'workspace'));
    assert.deepEqual(narrowRules(own, by), own);
  });

  it('says whose rule decides, and opens again what that one leaves alone', () => {
    const own = rules(rule('/', 'read', 'default'), rule('/w', 'write', 'default'));
    const by = rules(rule('/w/a', 'none', 'managed'), rule('/w/a/b', 'write', 'managed'));
    assert.deepEqual(narrowRules(own, by).files, [
      rule('/', 'read', 'default'),
      rule('/w', 'write', 'default'),
      rule('/w/a', 'none', 'managed'),
      { ...rule('/w/a/b', 'write', 'default'), writtenAs: '/w' },
    ]);
  });
});
