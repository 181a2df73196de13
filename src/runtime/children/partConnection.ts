import type { ExitStatus } from '../exec/execBackend.ts';
import type { DoorConnection } from '../../sandbox/sandboxManager.ts';
import { signalName, signalNumber } from '../../terminal/processGroup.ts';
import type { Frame } from './partFrames.ts';
import { frameOf, messageFrame } from './partFrames.ts';

/** As in part.c: what it passes on. Anything else is not from there. */
const passedSignals: ReadonlySet<string> = new Set([
  ...['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGTERM', 'SIGWINCH'],
]);

/** Signals of one name that come so soon after another are one, as they are for a program that has not looked yet. */
const signalPauseMs = 20;

/** The waiting program of a script, at the other end of a connection. */
export class PartConnection {
  readonly #connection: DoorConnection;
  readonly #end = new AbortController();
  readonly #waiting = new Set<NodeJS.Signals>();
  #pause: NodeJS.Timeout | undefined;
  /** Called with the signals that the program gets. */
  onSignal: ((name: NodeJS.Signals) => void) | undefined;

  constructor(connection: DoorConnection) {
    this.#connection = connection;
    connection.once('close', () => {
      clearTimeout(this.#pause);
      this.#end.abort();
    });
  }

  /** Aborted when the program has ended, or with its sandbox. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  heed({ letter, rest }: Frame): void {
    const name = letter === 'S' && rest.length === 1 ? signalName(rest[0] ?? 0) : undefined;
    if (name !== undefined && passedSignals.has(name)) {
      this.#waiting.add(name);
      this.#passOn();
    } else {
      this.#connection.destroy();
    }
  }

  #passOn(): void {
    if (this.#pause !== undefined || this.#waiting.size === 0) {
      return;
    }
    this.#waiting.forEach((name) => this.onSignal?.(name));
    this.#waiting.clear();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#passOn();
    }, signalPauseMs);
  }

  /** It becomes the program that it stands for. */
  runInside(): void {
    this.#connection.end(frameOf('R'));
  }

  deny(message: string): void {
    this.#connection.end(messageFrame('D', message));
  }

  /** Its streams are to come over another connection, which says this word. */
  awaitStreams(key: string): void {
    this.#connection.write(frameOf('E', Buffer.from(key, 'latin1')));
  }

  fail(message: string): void {
    this.#connection.end(messageFrame('F', message));
  }

  exit({ exitCode, signal }: ExitStatus): void {
    const number = signal === undefined ? 0 : signalNumber(signal);
    this.#connection.end(frameOf('X', Uint8Array.of(exitCode & 0xff, number)));
  }
}
