import assert from 'node:assert/strict';
import { encodeMessage } from '../../../../src/runtime/execServer/server/encodeMessage.ts';

describe('a message as it is sent', () => {
  const output = (processId: string, bytes: Uint8Array): object => ({
    method: 'process/output',
    params: { processId, seq: 7, stream: 'stdout', chunk: Buffer.from(bytes).toString('base64') },
  });
  const textOf = (message: object): string => Buffer.from(encodeMessage(message).content).toString();

  it('is the same JSON for output as for anything else', () => {
    for (const processId of ['p1', '', '"}\\\n\0', 'é漢🙂', '\ud800', '"chunk":"']) {
      for (const length of [0, 1, 2, 3, 5_000, 65_536, 100_000]) {
        const message = output(processId, Buffer.alloc(length, '\xff?>', 'latin1'));
        assert.equal(textOf(message), JSON.stringify(message));
      }
    }
    for (const message of [
      { id: 1, result: {} },
      { method: 'process/closed', params: { seq: 2 } },
    ]) {
      assert.equal(encodeMessage(message).content, JSON.stringify(message));
    }
  });

  it('stays as it is until it is taken, however many there are', () => {
    const messages = Array.from({ length: 40 }, (_, number) => output('p', Buffer.alloc(60_000, number)));
    const encoded = messages.map(encodeMessage);
    encoded.forEach(({ content }, at) =>
      assert.equal(Buffer.from(content).toString(), JSON.stringify(messages[at])),
    );
    encoded.forEach(({ taken }) => taken?.());
  });

  it('takes the memory of one that was taken', () => {
    const bufferOf = ({ content }: { content: string | Uint8Array }): unknown =>
      (content as Uint8Array).buffer;
    const first = encodeMessage(output('p', Buffer.alloc(60_000)));
    first.taken?.();
    const second = encodeMessage(output('p', Buffer.alloc(50_000)));
    assert.equal(bufferOf(second), bufferOf(first));
    assert.notEqual(bufferOf(encodeMessage(output('p', Buffer.alloc(50_000)))), bufferOf(second));
  });
});
