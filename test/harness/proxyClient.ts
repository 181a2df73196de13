import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect } from 'node:net';

/** Sends bytes to a Unix socket and returns all that comes back until the other side closes, as latin1. */
export async function exchange(path: string, sent: string | Uint8Array): Promise<string> {
  const socket = connect({ path });
  socket.write(sent);
  return collect(socket);
}

/** Everything until the end. */
export async function collect(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {});
  await new Promise((resolve) => {
    socket.once('end', resolve);
    socket.once('close', resolve);
  });
  socket.destroy();
  return Buffer.concat(chunks).toString('latin1');
}

/** Resolves when the text has come. */
export async function until(socket: Socket, text: string): Promise<string> {
  let got = '';
  while (!got.includes(text)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    got += chunk.toString('latin1');
  }
  return got;
}

/** Listens on a free port of the loopback. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
