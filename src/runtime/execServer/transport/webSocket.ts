import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { Emitter } from '../../../base/event.ts';
import type { Event } from '../../../base/event.ts';
import type { MessageTransport, TransportEnd } from './messageTransport.ts';
import { OneWrite } from './oneWrite.ts';
import { SentBytes } from './sentBytes.ts';

export interface WebSocketOptions {
  /** Pings this often, and closes when neither an answer nor anything else has come twice. */
  readonly pingMs?: number;
  /**
   * Answers what arrives with an empty pong, which takes the acknowledgement of TCP along: a server that does not set
   * TCP_NODELAY holds every small message back for some 40 ms otherwise.
   */
  readonly acknowledges?: boolean;
  /** A single frame that is longer ends the connection. Unlimited without. */
  readonly maxFrameBytes?: number;
}

/** An open WebSocket of the library `ws`, of a server or of a client. One message of text each; binary is read, too. */
export function webSocketTransport(
  webSocket: WebSocket,
  name: string,
  options: WebSocketOptions = {},
): MessageTransport {
  return new WebSocketTransport(webSocket, name, options);
}

const defaultPingMs = 15_000;

/** What of `ws` is not public: the exact version is pinned, and tested. */
interface Inside {
  readonly _socket?: Socket;
  readonly _receiver?: {
    _payloadLength: number;
    haveLength(done: (error?: Error) => void): void;
    createError(type: typeof Error, message: string, prefix: boolean, status: number, code: string): Error;
  };
}

class WebSocketTransport implements MessageTransport {
  readonly name: string;
  readonly #messages = new Emitter<string>();
  readonly #closed = new Emitter<TransportEnd>();
  readonly onMessage: Event<string> = this.#messages.event;
  readonly onClose: Event<TransportEnd> = this.#closed.event;
  readonly onDrain: Event<void>;
  readonly #webSocket: WebSocket;
  readonly #sent = new SentBytes();
  readonly #writes: OneWrite | undefined;
  readonly #queue: string[] = [];
  #isPaused = true;
  #isClosed = false;
  #reason: string | undefined;
  #acknowledgement: NodeJS.Immediate | undefined;

  constructor(
    webSocket: WebSocket,
    name: string,
    { pingMs = defaultPingMs, acknowledges = false, maxFrameBytes }: WebSocketOptions,
  ) {
    this.name = name;
    this.#webSocket = webSocket;
    this.onDrain = this.#sent.onDrain;
    webSocket.on('message', (data) => {
      if (acknowledges) {
        this.#acknowledge();
      }
      this.#receive(textOf(data));
    });
    webSocket.on('error', (error) => {
      this.#reason ??= error.message;
      webSocket.terminate();
    });
    webSocket.on('close', () => this.#end());
    webSocket.pause();
    const { _socket: socket, _receiver: receiver } = webSocket as unknown as Inside;
    socket?.setNoDelay(true);
    socket?.setKeepAlive(true, 30_000);
    if (receiver !== undefined && maxFrameBytes !== undefined) {
      const haveLength = receiver.haveLength.bind(receiver);
      receiver.haveLength = (done) => {
        if (receiver._payloadLength > maxFrameBytes) {
          const message = `a frame is longer than ${maxFrameBytes} bytes`;
          done(receiver.createError(RangeError, message, false, 1009, 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'));
        } else {
          haveLength(done);
        }
      };
    }
    if (socket !== undefined) {
      this.#writes = new OneWrite(socket);
      this.#watch(socket, pingMs);
    }
  }

  get bufferedBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  send(message: string | Uint8Array, taken?: () => void): void {
    if (this.#isClosed) {
      return;
    }
    this.#writes?.begin();
    this.#webSocket.send(message, { binary: false }, (error) => {
      if (!error) {
        taken?.();
      }
      this.#sent.taken(this.#webSocket.bufferedAmount);
    });
    this.#sent.added(this.#webSocket.bufferedAmount);
  }

  pause(): void {
    this.#isPaused = true;
    this.#webSocket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    while (this.#queue.length > 0 && !this.#isPaused && !this.#isClosed) {
      this.#messages.fire(this.#queue.shift() as string);
    }
    if (!this.#isPaused && !this.#isClosed) {
      this.#webSocket.resume();
    }
  }

  close(): void {
    this.#writes?.end();
    this.#webSocket.terminate();
    this.#end();
  }

  /** A frame that was read already still comes after `pause`. */
  #receive(text: string): void {
    if (this.#isPaused || this.#queue.length > 0) {
      this.#queue.push(text);
    } else {
      this.#messages.fire(text);
    }
  }

  #acknowledge(): void {
    if (this.#acknowledgement === undefined) {
      this.#acknowledgement = setImmediate(() => {
        this.#acknowledgement = undefined;
        if (this.#webSocket.readyState === this.#webSocket.OPEN) {
          this.#webSocket.pong();
        }
      });
    }
  }

  /** Everything that moves is a sign of life: a slow peer may take longer for what is in front of the ping. */
  #watch(socket: Socket, pingMs: number): void {
    const seen = { received: 0, taken: 0, silent: 0 };
    const timer = setInterval(() => {
      const received = socket.bytesRead;
      const taken = socket.bytesWritten - socket.writableLength;
      // While nothing is read and nothing waits to be taken, nobody can give a sign.
      const canTell = !this.#isPaused || socket.writableLength > 0;
      const isAlive =
        received > seen.received || !canTell || (socket.writableLength > 0 && taken > seen.taken);
      seen.silent = isAlive ? 0 : seen.silent + 1;
      seen.received = received;
      seen.taken = taken;
      if (seen.silent >= 2) {
        this.#reason ??= 'the other side does not answer';
        this.close();
      } else {
        this.#webSocket.ping();
      }
    }, pingMs);
    timer.unref();
    this.onClose(() => clearInterval(timer));
  }

  #end(): void {
    if (this.#isClosed) {
      return;
    }
    this.#isClosed = true;
    this.#queue.length = 0;
    this.#closed.fire(this.#reason === undefined ? {} : { reason: this.#reason });
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) {
    return Buffer.concat(data).toString('utf8');
  }
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8');
}
