import type { WebSocket } from 'ws';
import { Emitter } from '../../../base/event.ts';
import type { MessageTransport, TransportEnd } from './messageTransport.ts';

/** A ping goes out this often, and the connection is given up when two of them are not answered. */
const pingIntervalMs = 15_000;
/** Above this the writer is told when the rest has gone. */
const highWaterBytes = 256 * 1024;

export interface WebSocketOptions {
  /**
   * Answers what arrives with an empty pong, which takes the acknowledgement of TCP along: a server that does not set
   * TCP_NODELAY holds every small message back for some 40 ms otherwise.
   */
  readonly acknowledges?: boolean;
}

/** One message per WebSocket message, either side of an open socket. */
export function webSocketTransport(
  socket: WebSocket,
  name: string,
  { acknowledges = false }: WebSocketOptions = {},
): MessageTransport {
  const messages = new Emitter<string>();
  const ends = new Emitter<TransportEnd>();
  const drains = new Emitter<void>();
  let unanswered = 0;
  let reason: string | undefined;
  let isWaiting = false;
  const timer = setInterval(() => {
    if (unanswered >= 2) {
      reason = 'it answers no pings';
      socket.terminate();
      return;
    }
    unanswered++;
    socket.ping();
  }, pingIntervalMs);
  timer.unref();
  let isAcknowledging = false;
  const acknowledge = (): void => {
    if (acknowledges && !isAcknowledging) {
      isAcknowledging = true;
      setImmediate(() => {
        isAcknowledging = false;
        if (socket.readyState === socket.OPEN) {
          socket.pong();
        }
      });
    }
  };
  const isAlive = (): void => void (unanswered = 0);
  socket.pause();
  socket.on('pong', isAlive);
  socket.on('message', (data: Buffer) => {
    isAlive();
    acknowledge();
    messages.fire(data.toString());
  });
  socket.on('error', (cause) => void (reason ??= cause.message));
  socket.on('close', () => {
    clearInterval(timer);
    ends.fire({ ...(reason !== undefined && { reason }) });
  });
  const sent = (): void => {
    if (isWaiting && socket.bufferedAmount < highWaterBytes) {
      isWaiting = false;
      drains.fire();
    }
  };
  return {
    name,
    onMessage: messages.event,
    onClose: ends.event,
    onDrain: drains.event,
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    send(text) {
      if (socket.readyState === socket.OPEN) {
        socket.send(text, sent);
        isWaiting ||= socket.bufferedAmount >= highWaterBytes;
      }
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  };
}
