import assert from 'node:assert/strict';
import { requestedEnvironment } from '../../../../src/runtime/execServer/services/processes/processEnvironment.ts';
import { RecentWrites } from '../../../../src/runtime/execServer/services/processes/recentWrites.ts';

describe('The environment that a start asks for', () => {
  const parent = { Path: '/bin', HOME: '/h', API_KEY: 'k', my_token: 't', LD_PRELOAD: 'x', OTHER: 'o' };
  const everything = { ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };
  const policy = (over: object) => ({ inherit: 'all' as const, ...everything, ...over });

  it('is exactly that, without a policy', () => {
    assert.deepEqual(requestedEnvironment({ env: { A: '1' } }, parent), { A: '1' });
    assert.deepEqual(requestedEnvironment({ env: {}, envPolicy: null }, parent), {});
  });

  it('begins with what is inherited, of which the server’s own start is nothing', () => {
    const of = (over: object, more = {}) =>
      requestedEnvironment({ env: {}, envPolicy: policy(over) }, { ...parent, ...more });
    assert.deepEqual(of({}), parent);
    assert.deepEqual(
      of({}, { ELECTRON_RUN_AS_NODE: '1', CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE: '1' }),
      parent,
    );
    assert.deepEqual(of({ inherit: 'core' }), { Path: '/bin', HOME: '/h' });
    assert.deepEqual(of({ inherit: 'none' }), {});
  });

  it('goes through the six steps in order', () => {
    const steps = policy({
      ignoreDefaultExcludes: false,
      exclude: ['oth*'],
      set: { OTHER: 'set', NEW_KEY: 'set', GONE: 'set' },
      includeOnly: ['h*', 'OTHER', '*key'],
    });
    assert.deepEqual(
      requestedEnvironment({ env: { GONE: 'asked', HOME: '/mine' }, envPolicy: steps }, parent),
      {
        HOME: '/mine',
        OTHER: 'set',
        NEW_KEY: 'set',
        GONE: 'asked',
      },
    );
  });
});

describe('RecentWrites', () => {
  it('remembers the last 4,096', () => {
    const writes = new RecentWrites();
    assert.ok(writes.note('a'));
    assert.ok(!writes.note('a'));
    for (let index = 0; index < 4095; index++) assert.ok(writes.note(`${index}`));
    assert.ok(!writes.note('a'));
    assert.ok(writes.note('one more'));
    assert.ok(writes.note('a'));
  });
});
