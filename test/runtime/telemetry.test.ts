import assert from 'node:assert/strict';
import { silentLog } from '../../src/base/log.ts';
import { ok } from '../../src/base/result.ts';
import { startTelemetry } from '../../src/base/startTelemetry.ts';
import { startSpan, traceContextOf } from '../../src/base/telemetry.ts';
import { connectExecClient } from '../../src/runtime/execServer/client/connectExecClient.ts';
import { dialWebSocket } from '../../src/runtime/execServer/client/dial.ts';
import { RemoteBackend } from '../../src/runtime/execServer/client/remoteBackend.ts';
import { RpcError } from '../../src/runtime/execServer/protocol/errors.ts';
import { startCordonServer } from '../harness/cordonServer.ts';
import type { ReceivedSpan } from '../harness/spanReceiver.ts';
import { startSpanReceiver } from '../harness/spanReceiver.ts';
import { testPolicy } from '../harness/testRuntime.ts';

describe('telemetry', () => {
  it('is off unless the environment names a collector', async () => {
    for (const environment of [
      {},
      { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' },
    ]) {
      const spans = await startTelemetry('test', '1', silentLog, environment);
      assert.equal(traceContextOf(startSpan('x')), undefined);
      await spans.stop();
    }
  });

  it('sends one trace for what happens on both sides of the wire', async function () {
    this.timeout(60_000);
    const receiver = await startSpanReceiver();
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    };
    const server = await startCordonServer('ws://127.0.0.1:0', [], { ...process.env, ...environment });
    const before = { ...process.env };
    Object.assign(process.env, environment);
    const spans = await startTelemetry('the client', '1', silentLog);
    const client = await connectExecClient(dialWebSocket(server.url));
    const backend = new RemoteBackend({ connect: async () => ok(client) });
    const child = await backend.start({
      argv: ['/bin/echo', 'secret words'],
      cwd: '/',
      env: {},
      policy: testPolicy('/', { mode: 'danger-full-access' }),
    });
    assert.ok(child.ok);
    await child.value.closed;
    await client
      .call('http/request', { method: 'GET', url: receiver.url, requestId: 'r' })
      .catch((cause: unknown) => assert.ok(cause instanceof RpcError));
    client.dispose();
    await spans.stop();
    process.env = before;
    await server.dispose();
    await receiver.dispose();

    const find = (service: string, name: string): ReceivedSpan => {
      const found = receiver.spans.filter((span) => span.service === service && span.name === name);
      assert.equal(found.length, 1, `${service}: ${name} among ${JSON.stringify(receiver.spans)}`);
      return found[0] as ReceivedSpan;
    };
    const chain = [
      find('the client', 'process'),
      find('the client', 'process/start'),
      find('cordon-exec-server', 'process/start'),
      find('cordon-exec-server', 'process'),
    ];
    assert.equal(new Set(chain.map(({ traceId }) => traceId)).size, 1);
    chain.slice(1).forEach(({ parentSpanId }, index) => assert.equal(parentSpanId, chain[index]?.spanId));
    for (const { events, attributes } of [chain[0], chain[3]] as ReceivedSpan[]) {
      assert.deepEqual(events, ['first byte', 'exit']);
      assert.equal(Number(attributes['process.exit.code']), 0);
    }
    find('the client', 'exec-server connect');
    const request = [find('the client', 'http/request'), find('cordon-exec-server', 'http/request')];
    assert.equal(request[1]?.parentSpanId, request[0]?.spanId);
    assert.doesNotMatch(JSON.stringify(receiver.spans), /secret words/);
  });
});
