import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { connect } from 'node:tls';
import { readGreeting } from '../../../../src/sandbox/network/serverName.ts';

/** What a real TLS client says first. */
async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, ...options });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}

/** The same handshake in records of at most that many bytes. */
function split(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(records);
}

describe('readGreeting()', () => {
  const versions: readonly ConnectionOptions[] = [
    { minVersion: 'TLSv1.3' },
    { maxVersion: 'TLSv1.2' },
    { ALPNProtocols: ['h2', 'http/1.1'] },
  ];
  for (const options of versions) {
    it(`finds the server name of a client with ${JSON.stringify(options)}`, async () => {
      const hello = await helloOf({ servername: 'www.example.org', ...options });
      assert.deepEqual(readGreeting(hello), { kind: 'tls', serverName: 'www.example.org' });
    });
  }

  it('sees that there is none', async () => {
    assert.deepEqual(readGreeting(await helloOf({})), { kind: 'tls', serverName: undefined });
  });

  it('waits for every byte, in one record or many', async () => {
    const hello = await helloOf({ servername: 'www.example.org' });
    for (const bytes of [hello, split(hello, 7), split(hello, 1)]) {
      for (let length = 0; length < bytes.length; length += 1) {
        assert.equal(readGreeting(bytes.subarray(0, length)).kind, 'incomplete', `${length} bytes`);
      }
      assert.deepEqual(readGreeting(bytes), { kind: 'tls', serverName: 'www.example.org' });
    }
  });

  it('is not led astray by what follows in other records', async () => {
    const hello = await helloOf({ servername: 'www.example.org' });
    for (const next of [[20, 3, 3, 0, 1, 1], [23, 3, 3, 0, 2, 0, 0], [23], [0, 0, 0, 0, 0]]) {
      const bytes = Buffer.concat([hello, Buffer.from(next)]);
      assert.deepEqual(readGreeting(bytes), { kind: 'tls', serverName: 'www.example.org' });
    }
  });

  it('takes everything else for something else', () => {
    for (const text of ['GET / HTTP/1.1\r\n', 'SSH-2.0-x\r\n', '\u0080.\u0001']) {
      assert.equal(readGreeting(Buffer.from(text, 'latin1')).kind, 'other');
    }
    assert.equal(readGreeting(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])).kind, 'other');
  });

  it('survives any bytes', async () => {
    const hello = await helloOf({ servername: 'www.example.org' });
    for (let at = 5; at < hello.length; at += 1) {
      for (const value of [0, 1, 127, 255]) {
        const broken = Buffer.from(hello);
        broken[at] = value;
        readGreeting(broken);
      }
    }
  });
});
