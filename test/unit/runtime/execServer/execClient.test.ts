import assert from 'node:assert/strict';
import { connectExecClient } from '../../../../src/runtime/execServer/client/connectExecClient.ts';
import { dialWebSocket } from '../../../../src/runtime/execServer/client/dial.ts';
import type { ClientState, ExecClient } from '../../../../src/runtime/execServer/client/execClient.ts';
import { ConnectionLost } from '../../../../src/runtime/execServer/client/execClient.ts';
import { errorCodes, RpcError } from '../../../../src/runtime/execServer/protocol/errors.ts';
import { unhandledRejections } from '../../../harness/unhandledRejections.ts';
import { PretendServer } from '../../../harness/pretendServer.ts';
import { waitFor } from '../../../harness/waitFor.ts';

const timing = { retryMs: 1, recoveryMs: 2_000, attemptMs: 500 };

describe('connectExecClient()', () => {
  let server: PretendServer;
  let clients: ExecClient[];
  beforeEach(() => {
    server = new PretendServer();
    clients = [];
  });
  afterEach(() => clients.forEach((client) => client.dispose()));

  async function connect(options: Parameters<typeof connectExecClient>[1] = {}): Promise<ExecClient> {
    const client = await connectExecClient(server.dial, {
      ...options,
      timing: { ...timing, ...options.timing },
    });
    clients.push(client);
    return client;
  }

  const ask = (client: ExecClient, signal?: AbortSignal): Promise<unknown> =>
    client.call('fs/getMetadata', { path: 'file:///x' }, signal && { signal });
  const metadata = {
    isDirectory: true,
    isFile: false,
    isSymlink: false,
    size: 0,
    createdAtMs: 0,
    modifiedAtMs: 0,
  };

  it('asks for what the machine is when the handshake does not say', async () => {
    server.environmentInfo = undefined;
    server.handlers.set('environment/info', () => ({
      shell: { name: 'bash', path: '/bin/bash' },
      cordon: { version: 1, build: 'b', pid: 1 },
    }));
    const client = await connect();
    assert.equal(client.info.shell.path, '/bin/bash');
    assert.ok(client.isCordon);
  });

  it('takes a server for Cordon’s only when it speaks the same version of its words', async () => {
    server.environmentInfo = {
      shell: { name: 'sh', path: '/bin/sh' },
      cordon: { version: 2, build: 'b', pid: 1 },
    };
    assert.ok(!(await connect()).isCordon);
  });

  it('rejects with what connecting failed with, and with the error of the server', async () => {
    server.unreachable = new Error('nobody there');
    await assert.rejects(connect(), /nobody there/);
    server.unreachable = undefined;
    server.handlers.set('initialize', () => {
      throw new RpcError(errorCodes.invalidRequest, 'unknown session id x');
    });
    await assert.rejects(connect({ resumeSessionId: 'x' }), /unknown session id x/);
  });

  it('waits for the connection of the client before to be gone', async () => {
    const answer = server.handlers.get('initialize');
    server.handlers.set('initialize', (params) => {
      if (server.dials < 4) {
        throw new RpcError(errorCodes.sessionAttached, 'attached');
      }
      return answer?.(params);
    });
    assert.equal((await connect({ resumeSessionId: 'mine' })).sessionId, 'mine');
    assert.equal(server.dials, 4);
  });

  it('gives up before the handshake, and closes the connection that it was given too late', async () => {
    const abort = new AbortController();
    let isClosed = false;
    const connect = () =>
      connectExecClient(
        async (signal) => {
          const transport = await server.dial(signal);
          transport.onClose(() => (isClosed = true));
          abort.abort(new Error('enough'));
          return transport;
        },
        { timing, signal: abort.signal },
      );
    const unhandled = await unhandledRejections(async () => {
      await assert.rejects(connect(), /enough/);
      await assert.rejects(dialWebSocket('ws://127.0.0.1:9')(abort.signal), /enough/);
    });
    assert.deepEqual(unhandled, []);
    assert.ok(isClosed);
  });

  it('gives up a server that does not answer the handshake', async () => {
    server.handlers.set('initialize', () => undefined);
    await assert.rejects(connect({ timing: { attemptMs: 30 } }), { name: 'TimeoutError' });
  });

  it('keeps a window of requests in flight, and sends the rest as answers come', async () => {
    const client = await connect();
    const all = Promise.all(Array.from({ length: 100 }, () => ask(client)));
    await waitFor('the window to be full', () => server.requests.length >= 33);
    assert.equal(server.called().length, 32);
    server.handlers.set('fs/getMetadata', () => metadata);
    server.requests.slice(1).forEach(({ id }) => server.answer(id, metadata));
    await all;
    assert.equal(server.called().length, 100);
  });

  it('lets control requests pass a full window on Cordon’s own server', async () => {
    server.environmentInfo = {
      shell: { name: 'sh', path: '/bin/sh' },
      cordon: { version: 1, build: 'b', pid: 1 },
    };
    const client = await connect();
    const all = Array.from({ length: 100 }, () => ask(client).catch(() => {}));
    await client.call('environment/status', {});
    assert.equal(server.called().length, 65);
    client.dispose();
    await Promise.all(all);
  });

  it('gives each caller the answer to its request, in whatever order they come', async () => {
    const client = await connect();
    const both = [
      client.call('fs/canonicalize', { path: 'file:///a' }),
      client.call('fs/canonicalize', { path: 'file:///b' }),
    ];
    await waitFor('both requests', () => server.requests.length === 3);
    server.answer(server.requests[2]?.id ?? 0, { path: 'B' });
    server.answer(server.requests[1]?.id ?? 0, { path: 'A' });
    assert.deepEqual(await Promise.all(both), [{ path: 'A' }, { path: 'B' }]);
  });

  it('names method and field of an answer that is not as the protocol says', async () => {
    server.handlers.set('fs/getMetadata', () => ({ ...metadata, size: 'big' }));
    const client = await connect();
    await assert.rejects(ask(client), {
      name: 'MalformedAnswer',
      message: /answer to fs\/getMetadata is malformed: the field size: .*number/,
    });
  });

  it('stops waiting for a call that is given up; its late answer harms nobody', async () => {
    const client = await connect();
    const abort = new AbortController();
    const call = ask(client, abort.signal);
    await waitFor('the request', () => server.requests.length === 2);
    abort.abort();
    await assert.rejects(call, { name: 'AbortError' });
    server.answer(server.requests[1]?.id ?? 0, metadata);
    server.handlers.set('fs/getMetadata', () => metadata);
    assert.deepEqual(await ask(client), metadata);
  });

  it('comes back after the connection broke: repeats what may be repeated, rejects the rest', async () => {
    const client = await connect();
    const states: ClientState['kind'][] = [];
    client.onDidChangeState(({ kind }) => states.push(kind));
    const read = ask(client);
    const remove = client.call('fs/remove', { path: 'file:///x' });
    await waitFor('both requests', () => server.requests.length === 3);
    server.handlers.set('fs/getMetadata', () => metadata);
    server.breakConnection();
    await assert.rejects(
      remove,
      (cause) => cause instanceof ConnectionLost && /fs\/remove/.test(cause.message),
    );
    assert.deepEqual(await read, metadata);
    assert.deepEqual(states, ['recovering', 'connected']);
    const again = server.requests.filter(({ method }) => method === 'initialize')[1];
    assert.equal(again?.params['resumeSessionId'], client.sessionId);
  });

  it('sends what was asked meanwhile when it is back', async () => {
    const client = await connect();
    server.handlers.set('fs/remove', () => ({}));
    server.unreachable = new Error('not yet');
    server.breakConnection();
    const call = client.call('fs/remove', { path: 'file:///x' });
    await waitFor('some attempts', () => server.dials > 4);
    server.unreachable = undefined;
    assert.deepEqual(await call, {});
  });

  it('tries again while the server still sees the old connection, and gives up on any other error', async () => {
    const client = await connect();
    server.handlers.set('initialize', () => {
      throw server.dials < 5
        ? new RpcError(errorCodes.sessionAttached, 'attached')
        : new RpcError(errorCodes.invalidRequest, 'unknown session id');
    });
    const call = ask(client);
    server.breakConnection();
    await assert.rejects(call, /does not have the session any more: unknown session id/);
    assert.equal(server.dials, 5);
    assert.equal(client.state.kind, 'lost');
    await assert.rejects(ask(client), ConnectionLost);
  });

  it('gives up when there was no connection for the time that it has', async () => {
    const client = await connect({ timing: { recoveryMs: 60 } });
    server.unreachable = new Error('nobody there');
    server.breakConnection();
    await assert.rejects(ask(client), /recovery timed out after 0.06 s: nobody there/);
  });

  it('takes a server that opens another session for one that has lost it', async () => {
    const client = await connect();
    server.handlers.set('initialize', () => ({
      sessionId: 'other',
      environmentInfo: server.environmentInfo,
    }));
    server.breakConnection();
    await assert.rejects(ask(client), /asked for session session-…, it opened other/);
  });

  it('finds a connection that is dead without having ended', async () => {
    const client = await connect({ timing: { probeAfterMs: 30, patienceMs: 60, serialPatienceMs: 90 } });
    server.handlers.set('environment/status', () => (server.dials === 1 ? undefined : { status: 'ready' }));
    await waitFor('a new connection', () => server.dials === 2);
    await waitFor('it to be back', () => client.state.kind === 'connected');
  });

  it('does not take silence for death while the server answers', async () => {
    await connect({ timing: { probeAfterMs: 15, patienceMs: 60 } });
    await waitFor('a few questions', () => server.called().length > 3);
    assert.equal(server.dials, 1);
  });

  it('makes a new connection when what arrives is no message, and ends it when that goes on', async () => {
    const client = await connect();
    for (const dials of [2, 3, 4]) {
      server.sendRaw('{"half":');
      await waitFor('a new connection', () => server.dials === dials);
      await waitFor('it to be back', () => client.state.kind === 'connected');
    }
    server.sendRaw('noise');
    await assert.rejects(ask(client), /no message of the exec-server protocol: "noise"/);
  });

  it('passes over notifications that it does not know or cannot read', async () => {
    const client = await connect();
    const heard: unknown[] = [];
    client.onNotification('fs/missingChanged', (params) => heard.push(params));
    server.push('news/unknown', {});
    server.push('fs/missingChanged', { watchId: 'seven' });
    server.push('fs/missingChanged', { watchId: 7 });
    await waitFor('the notification', () => heard.length > 0);
    assert.deepEqual(heard, [{ watchId: 7 }]);
    assert.equal(client.state.kind, 'connected');
  });

  it('ends what waits when it is disposed', async () => {
    const client = await connect();
    const call = ask(client);
    client.dispose();
    await assert.rejects(call, ConnectionLost);
  });
});
