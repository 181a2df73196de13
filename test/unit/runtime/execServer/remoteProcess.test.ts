import assert from 'node:assert/strict';
import { ok } from '../../../../src/base/result.ts';
import type { ExecEvent, StartParams } from '../../../../src/runtime/exec/execBackend.ts';
import { connectExecClient } from '../../../../src/runtime/execServer/client/connectExecClient.ts';
import type { ExecClient } from '../../../../src/runtime/execServer/client/execClient.ts';
import { RemoteBackend } from '../../../../src/runtime/execServer/client/remoteBackend.ts';
import { startErrorOf } from '../../../../src/runtime/execServer/client/startError.ts';
import type { RemoteProcess } from '../../../../src/runtime/execServer/client/remoteProcess.ts';
import { errorCodes, RpcError } from '../../../../src/runtime/execServer/protocol/errors.ts';
import { policyOf } from '../../../harness/policyOf.ts';
import { PretendServer } from '../../../harness/pretendServer.ts';
import { waitFor } from '../../../harness/waitFor.ts';

const timing = { retryMs: 1, recoveryMs: 300, repairMs: 20, drainMs: 40, quietMs: 60_000 };
const open = policyOf('/', { mode: 'danger-full-access' });
const read = {
  chunks: [],
  nextSeq: 1,
  exited: false,
  exitCode: null,
  closed: false,
  failure: null,
  sandboxDenied: false,
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const chunk = (seq: number, text: string): object => ({ seq, stream: 'stdout', chunk: base64(text) });

describe('a process on the machine of an exec-server', () => {
  let server: PretendServer;
  let client: ExecClient;
  let events: ExecEvent[];
  let processId: string;

  beforeEach(() => {
    server = new PretendServer();
    events = [];
  });
  afterEach(() => client.dispose());

  async function start(params: Partial<StartParams> = {}): Promise<RemoteProcess> {
    client = await connectExecClient(server.dial, { timing });
    const backend = new RemoteBackend({ connect: async () => ok(client), timing });
    const started = await backend.start({ argv: ['x'], cwd: '/', env: {}, policy: open, ...params });
    assert.ok(started.ok, started.ok ? '' : started.error.message);
    processId = String(server.requests.find(({ method }) => method === 'process/start')?.params['processId']);
    started.value.onEvent((event) => events.push(event));
    return started.value as RemoteProcess;
  }

  const output = (seq: number, text: string): void =>
    server.push('process/output', { processId, ...chunk(seq, text) });
  const exited = (seq: number, more: object = { sandboxDenied: false }): void =>
    server.push('process/exited', { processId, seq, exitCode: 3, ...more });
  const closed = (seq: number, more: object = {}): void =>
    server.push('process/closed', { processId, seq, ...more });
  const text = (): string =>
    Buffer.concat(events.flatMap((event) => (event.kind === 'output' ? [event.chunk] : []))).toString();
  const kinds = (): readonly string[] => events.map(({ kind }) => kind);
  const reads = (): number => server.called().filter((method) => method === 'process/read').length;

  it('is complete from pushed events alone, without a single read', async () => {
    const child = await start();
    output(2, 'b');
    exited(3);
    output(1, 'a');
    closed(4);
    await child.closed;
    assert.equal(text(), 'ab');
    assert.equal(child.exit?.exitCode, 3);
    assert.deepEqual(kinds(), ['output', 'output', 'exited', 'closed']);
    assert.equal(reads(), 0);
  });

  it('loses no event that comes together with the answer to its start', async () => {
    server.handlers.set('process/start', ({ processId: id }) => {
      setImmediate(() => {
        processId = String(id);
        output(1, 'a');
        exited(2);
        closed(3);
      });
      return { processId: id, sandboxType: 'none' };
    });
    server.isHasty = true;
    const child = await start();
    await child.closed;
    assert.deepEqual(kinds(), ['output', 'exited', 'closed']);
  });

  it('fetches an event that does not come', async () => {
    server.handlers.set('process/read', ({ afterSeq }) => {
      assert.equal(afterSeq, 1);
      return { ...read, chunks: [chunk(2, 'b'), chunk(3, 'c')], nextSeq: 4 };
    });
    await start();
    output(1, 'a');
    output(3, 'c');
    await waitFor('the repair', () => text() === 'abc');
    output(3, 'c');
    output(4, 'd');
    await waitFor('the rest', () => text() === 'abcd');
    assert.equal(reads(), 1);
  });

  it('says what is missing when the server does not have it any more', async () => {
    const child = await start();
    server.handlers.set('process/read', () => ({ ...read, chunks: [chunk(3, 'c')], nextSeq: 4 }));
    output(1, 'a');
    output(3, 'c');
    await waitFor('the rest', () => text() === 'ac');
    assert.deepEqual(kinds(), ['output', 'gap', 'output']);
    assert.deepEqual((await child.read({ afterSeq: 1 })).gap, { fromSeq: 2, toSeq: 2 });
    assert.equal(reads(), 3);
  });

  it('ends although its exit or its end was never told', async () => {
    for (const lost of ['exited', 'closed', 'both'] as const) {
      events = [];
      server = new PretendServer();
      const child = await start();
      server.handlers.set('process/read', () => ({
        ...read,
        nextSeq: 4,
        exited: true,
        exitCode: 3,
        closed: true,
      }));
      output(1, 'a');
      if (lost === 'exited') {
        closed(3);
      } else if (lost === 'closed') {
        exited(2);
      } else {
        await waitFor('the output', () => text() === 'a');
        await child.fetch();
      }
      await child.closed;
      assert.equal(child.exit?.exitCode, 3);
      assert.deepEqual(kinds(), ['output', 'exited', 'closed']);
      client.dispose();
    }
  });

  it('looks for itself whether the last events got lost when it is silent for long', async () => {
    client = await connectExecClient(server.dial, { timing });
    const backend = new RemoteBackend({
      connect: async () => ok(client),
      timing: { ...timing, quietMs: 30 },
    });
    server.handlers.set('process/read', () => ({
      ...read,
      nextSeq: 3,
      exited: true,
      exitCode: 0,
      closed: true,
    }));
    const started = await backend.start({ argv: ['x'], cwd: '/', env: {}, policy: open });
    assert.ok(started.ok);
    await started.value.closed;
    assert.equal(started.value.exit?.exitCode, 0);
  });

  it('does not wait for a child in the background that holds the output', async () => {
    server.handlers.set('process/read', () => ({ ...read, nextSeq: 2, exited: true, exitCode: 3 }));
    const child = await start();
    exited(1);
    await child.closed;
    assert.deepEqual(kinds(), ['exited', 'closed']);
  });

  it('asks an older server once whether the sandbox stopped it', async () => {
    server.handlers.set('process/read', () => ({
      ...read,
      nextSeq: 2,
      exited: true,
      exitCode: 3,
      sandboxDenied: true,
    }));
    const child = await start();
    exited(1, {});
    closed(2);
    await child.closed;
    assert.equal(child.exit?.sandboxDenied, true);
    assert.equal(reads(), 1);
  });

  it('reads once after a new connection, and joins what was pushed meanwhile', async () => {
    const child = await start();
    output(1, 'a');
    await waitFor('the first', () => text() === 'a');
    server.handlers.set('process/read', ({ afterSeq }) => {
      assert.equal(afterSeq, 1);
      output(3, 'c');
      output(4, 'd');
      return { ...read, chunks: [chunk(2, 'b'), chunk(3, 'c')], nextSeq: 4 };
    });
    server.breakConnection();
    await waitFor('the rest', () => text() === 'abcd');
    exited(5);
    closed(6);
    await child.closed;
    assert.equal(reads(), 1);
  });

  it('ends with a failure when the session is lost, or the server does not know it any more', async () => {
    let child = await start();
    output(1, 'a');
    output(3, 'c');
    await waitFor('the first', () => text() === 'a');
    server.unreachable = new Error('nobody there');
    server.breakConnection();
    await child.closed;
    assert.deepEqual(kinds(), ['output', 'gap', 'output', 'exited', 'closed']);
    assert.equal(child.exit?.exitCode, 255);
    assert.match(child.exit?.failure ?? '', /connection .* is lost: .*recovery timed out.*nobody there/);
    assert.equal(child.write(Buffer.from('x')), 'exited');

    server = new PretendServer();
    child = await start();
    server.handlers.set('process/read', () => {
      throw new RpcError(errorCodes.invalidRequest, 'unknown process id');
    });
    server.breakConnection();
    await child.closed;
    assert.match(child.exit?.failure ?? '', /no longer knows it \(unknown process id\)/);
  });

  it('writes in order, one at a time, what comes meanwhile together', async () => {
    const child = await start({ tty: { columns: 80, rows: 24 } });
    server.handlers.set('process/write', () => undefined);
    const writes = (): readonly { id: string | number; text: string; writeId: unknown }[] =>
      server.requests
        .filter(({ method }) => method === 'process/write')
        .map(({ id, params }) => ({
          id,
          text: Buffer.from(String(params['chunk']), 'base64').toString(),
          writeId: params['writeId'],
        }));
    for (const letter of 'abc') {
      assert.equal(child.write(Buffer.from(letter)), 'accepted');
    }
    await waitFor('the first write', () => writes().length === 1);
    server.breakConnection();
    await waitFor('it to be repeated', () => writes().length === 2);
    server.answer(writes()[1]?.id ?? 0, { status: 'accepted' });
    await waitFor('the rest', () => writes().length === 3);
    assert.deepEqual(
      writes().map(({ text: written, writeId }) => [written, String(writeId).replace(/^\w+-/, '')]),
      [
        ['a', '1'],
        ['a', '1'],
        ['bc', '2'],
      ],
    );
  });

  it('takes no input where it has none', async () => {
    const child = await start();
    assert.equal(child.write(Buffer.from('x')), 'stdin-closed');
    const other = await start({ pipeStdin: true });
    server.handlers.set('process/write', () => ({ status: 'stdinClosed' }));
    assert.equal(other.write(Buffer.from('x')), 'accepted');
    await waitFor('the refusal', () => other.write(Buffer.from('y')) === 'stdin-closed');
  });

  it('starts once although the answer was lost with the connection', async () => {
    let starts = 0;
    server.handlers.set('process/start', ({ processId: id }) => {
      if (++starts === 1) {
        setImmediate(() => server.breakConnection());
        return undefined;
      }
      throw new RpcError(errorCodes.invalidRequest, `process ${String(id)} already exists`);
    });
    server.handlers.set('process/read', () => ({ ...read, chunks: [chunk(1, 'a')], nextSeq: 2 }));
    const child = await start();
    await waitFor('what was fetched', () => child.readNow({ afterSeq: 0 }).nextSeq === 2);
    output(1, 'a');
    exited(2);
    closed(3);
    await child.closed;
    assert.equal(starts, 2);
    assert.deepEqual(child.readNow({ afterSeq: 0 }).chunks.length, 1);
  });

  it('says what kept a command from starting', async () => {
    client = await connectExecClient(server.dial, { timing });
    const backend = new RemoteBackend({ connect: async () => ok(client) });
    const failing = async (data: unknown): Promise<unknown> => {
      server.handlers.set('process/start', () => {
        throw new RpcError(errorCodes.internal, 'No such file or directory (os error 2)', data);
      });
      const started = await backend.start({ argv: ['prog'], cwd: '/work', env: {}, policy: open });
      assert.ok(!started.ok);
      return started.error;
    };
    assert.match(JSON.stringify(await failing({ kind: 'spawnNotFound' })), /"spawn-not-found".*prog.*\/work/);
    assert.match(
      JSON.stringify(await failing({ kind: 'spawnPermissionDenied' })),
      /"spawn-permission-denied"/,
    );
    assert.match(JSON.stringify(await failing({ kind: 'spawnFailed' })), /"spawn-failed".*No such file/);
    const told = { kind: 'bubblewrap-missing', message: 'It is missing.', hint: 'Install it.' };
    assert.deepEqual(await failing({ cordon: told }), told);
  });

  it('reports what Cordon’s own server knows beyond the protocol', async () => {
    server.environmentInfo = {
      shell: { name: 'sh', path: '/bin/sh' },
      cordon: { version: 1, build: 'b', pid: 1 },
    };
    server.handlers.set('process/start', ({ processId: id }) => ({
      processId: id,
      sandboxType: 'linuxSeccomp',
      cordon: { launcher: 'landlock' },
    }));
    const child = await start({ tty: { columns: 90, rows: 30 }, label: 'mine', policy: policyOf('/w') });
    const sent = server.requests.find(({ method }) => method === 'process/start')?.params['cordon'];
    assert.match(
      JSON.stringify(sent),
      /"root":"file:\/\/\/w".*"size":\{"columns":90,"rows":30\},"label":"mine"/,
    );
    assert.equal(child.sandbox, 'landlock');
    const blockedRequests = [{ host: 'a.example', port: 443, reason: 'allow-list', time: 1 }];
    exited(1, { sandboxDenied: true, cordon: { signal: 'SIGTERM', blockedRequests } });
    closed(2, {
      cordon: {
        deniedCalls: [{ call: 'bpf', detail: 0 }],
        findings: [{ path: '/w/.git', what: 'hook', message: 'm' }],
      },
    });
    await child.closed;
    assert.deepEqual(child.exit, { exitCode: 143, signal: 'SIGTERM', sandboxDenied: true, blockedRequests });
    assert.deepEqual(child.refusals, { requests: blockedRequests, calls: [{ call: 'bpf', detail: 0 }] });
    assert.deepEqual(child.findings, [{ path: '/w/.git', what: 'hook', message: 'm' }]);
  });

  it('believes nothing that is no signal and no kind of error here', async () => {
    const child = await start();
    exited(1, { sandboxDenied: false, cordon: { signal: 'constructor', exitCode: 9 } });
    closed(2);
    await child.closed;
    assert.deepEqual([child.exit?.signal, child.exit?.exitCode], [undefined, 9]);
    const cordon = { kind: 'toString', message: 'No.', hint: 'None.' };
    const error = startErrorOf(new RpcError(errorCodes.internal, 'no', { cordon }), {
      argv: ['x'],
      cwd: '/',
    });
    assert.deepEqual(error, { ...cordon, kind: 'spawn-failed' });
  });

  it('takes over what an earlier client left behind', async () => {
    server.environmentInfo = {
      shell: { name: 'sh', path: '/bin/sh' },
      cordon: { version: 1, build: 'b', pid: 1 },
    };
    server.handlers.set('cordon/process/list', () => ({
      processes: [
        {
          processId: 'old',
          label: 'mine',
          sandboxType: 'linuxSeccomp',
          launcher: 'bubblewrap',
          tty: true,
          pipeStdin: false,
          isRunning: true,
          startedAt: 1,
        },
      ],
    }));
    server.handlers.set('process/read', () => ({
      ...read,
      chunks: [chunk(9, 'x'.repeat(600_000)), chunk(10, 'tail')],
      nextSeq: 11,
    }));
    client = await connectExecClient(server.dial, { timing });
    const [found, ...others] = await new RemoteBackend({ connect: async () => ok(client), timing }).found();
    assert.ok(found !== undefined && others.length === 0);
    found.process.onEvent((event) => events.push(event));
    assert.equal(found.label, 'mine');
    assert.ok(found.process.isTty);
    assert.equal(found.process.sandbox, 'bubblewrap');
    assert.deepEqual(found.retained.gap, { fromSeq: 1, toSeq: 8 });
    assert.equal(found.retained.nextSeq, 11);
    assert.ok(found.process.relabel !== undefined);
    processId = 'old';
    output(11, 'more');
    await waitFor('what comes now', () => text() === 'more');
  });
});
