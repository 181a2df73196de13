import assert from 'node:assert/strict';
import type { Session } from '../../../../src/runtime/execServer/server/session.ts';
import { Sessions } from '../../../../src/runtime/execServer/server/sessions.ts';
import type { ServedConnection } from '../../../../src/runtime/execServer/server/service.ts';

describe('the sessions of an exec-server', () => {
  const client = {} as ServedConnection;
  let ended: string[];
  let sessions: Sessions;
  beforeEach(() => {
    ended = [];
    let count = 0;
    sessions = new Sessions(
      () => {
        const id = String(count++);
        return {
          ...{ id, isAttached: false, attach() {}, detach() {} },
          processes: { end: async () => void ended.push(id) },
        } as unknown as Session;
      },
      60_000,
      () => {},
    );
  });
  afterEach(() => sessions.end());

  it('do not pile up without clients: those that wait longest end', () => {
    const kept = sessions.open(client, undefined);
    for (let count = 0; count < 300; count++) {
      sessions.detach(sessions.open(client, undefined));
    }
    assert.equal(sessions.size, 257);
    assert.deepEqual(
      ended,
      Array.from({ length: 44 }, (_, index) => String(index + 1)),
    );
    assert.ok(!ended.includes(kept.id));
    assert.throws(() => sessions.open(client, '1'), /unknown session id 1/);
  });

  it('wait from their last client on', () => {
    const first = sessions.open(client, undefined);
    sessions.detach(first);
    for (let count = 0; count < 255; count++) {
      sessions.detach(sessions.open(client, undefined));
    }
    sessions.detach(sessions.open(client, first.id));
    sessions.detach(sessions.open(client, undefined));
    assert.deepEqual(ended, ['1']);
  });
});
