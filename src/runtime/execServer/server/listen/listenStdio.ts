import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { linesTransport } from '../../transport/lines.ts';
import type { Accept, Listener } from './listener.ts';
import { maxMessageBytes } from './listener.ts';

/** Serves one client over standard input and output; its end is the end of the server. */
export function listenStdio(accept: Accept): Listener {
  const transport = linesTransport(process.stdin, standardOutput(), 'exec-server stdio', { maxMessageBytes });
  const ended = new Promise<void>((resolve) => transport.onClose(() => resolve()));
  accept(transport);
  return { ended, close: async () => {} };
}

/** Never waits for who reads it, as `process.stdout` may. */
function standardOutput(): Writable {
  try {
    return new Socket({ fd: 1, readable: false, writable: true });
  } catch {
    // A file or a terminal.
    return process.stdout;
  }
}
