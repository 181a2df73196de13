import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { ChildExit } from './childHandle.ts';
import type { PipedChild, PipedSpec } from './pipedChild.ts';
import { signalGroup, signalName } from './processGroup.ts';
import type { SpawnerAnswer } from './spawnerWire.ts';
import { AnswerReader, forgetOrder, openedOrder, spawnerVersion, startOrder } from './spawnerWire.ts';

/** For its first word: a companion that is another program says none. */
const patienceMs = 2_000;

type Started = Extract<SpawnerAnswer, { readonly kind: 'started' }>;

interface Start extends PromiseWithResolvers<PipedChild> {
  readonly spec: PipedSpec;
}

const killed: ChildExit = { exitCode: 128 + 9, signal: 'SIGKILL' };

/**
 * One process of the companion program that starts commands for this one: with pipes, in a session and process group
 * of their own. It ends with this one, and all that it has started with it.
 */
export class Spawner {
  readonly #child: ChildProcess;
  readonly #orders: Socket;
  readonly #answers: Socket;
  readonly #reader = new AnswerReader();
  readonly #ready = Promise.withResolvers<boolean>();
  readonly #starts = new Map<number, Start>();
  readonly #running = new Map<number, (exit: ChildExit) => void>();
  #waiting = 0;
  #hasEnded = false;
  #lastNumber = 0;

  constructor(companion: string) {
    this.#child = spawn(companion, ['--spawn', String(process.pid)], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.on('error', () => this.#end());
    if (!(this.#child.stdin instanceof Socket && this.#child.stdout instanceof Socket)) {
      throw new Error('no more files can be open (EMFILE)');
    }
    this.#orders = this.#child.stdin;
    this.#answers = this.#child.stdout;
    this.#orders.on('error', () => {});
    this.#answers.on('data', (chunk: Buffer) => this.#hear(chunk));
    this.#answers.on('error', () => {});
    this.#answers.on('close', () => this.#end());
    [this.#child, this.#orders, this.#answers].forEach((held) => held.unref());
    // What has come while the event loop was blocked is heard before patience ends.
    const patience = setTimeout(() => setImmediate(() => this.#ready.resolve(false)), patienceMs);
    patience.unref();
    void this.#ready.promise.then((isReady) => {
      clearTimeout(patience);
      if (!isReady) {
        this.#end();
      }
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Of its descriptors. */
  get #folder(): string {
    return `/proc/${this.#child.pid}/fd`;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** False at the latest after some seconds. */
  async isUsable(): Promise<boolean> {
    return this.#whileWaiting(this.#ready.promise);
  }

  /** Rejects with what Node's spawn says; when the spawner itself ends, with that. */
  async start(spec: PipedSpec): Promise<PipedChild> {
    const number = (this.#lastNumber = (this.#lastNumber % 0x7fff_ffff) + 1);
    const order = startOrder(number, spec, spec.pipeStdin);
    if (order === undefined) {
      throw spawnError(spec, 'E2BIG');
    }
    if (this.#hasEnded) {
      throw new Error(endedMessage);
    }
    const start = { ...Promise.withResolvers<PipedChild>(), spec };
    this.#starts.set(number, start);
    this.#orders.write(order);
    return this.#whileWaiting(start.promise);
  }

  #started({ number, pid, streams }: Started): void {
    const start = this.#starts.get(number);
    this.#starts.delete(number);
    if (pid <= 0) {
      start?.reject(spawnError(start.spec, getSystemErrorName(pid)));
      return;
    }
    try {
      start?.resolve(this.#hold(pid, streams));
    } catch (error) {
      start?.reject(error);
    }
  }

  /** At once, because news of its end may be the next answer. */
  #hold(pid: number, streams: Started['streams']): PipedChild {
    const exited = this.#whileWaiting(new Promise<ChildExit>((resolve) => this.#running.set(pid, resolve)));
    const forget = (): void => {
      // Never before its end is known, and never twice.
      if (this.#running.delete(pid)) {
        this.#order(forgetOrder(pid));
      }
    };
    try {
      const [stdin, stdout, stderr] = this.#open(streams);
      return { pid, exited, forget, streams: [stdout, stderr], ...(stdin !== undefined && { stdin }) };
    } catch (error) {
      // It has run a moment, which cannot be undone.
      signalGroup(pid, 'SIGKILL');
      void exited.then(forget);
      throw error;
    } finally {
      this.#order(openedOrder(pid));
    }
  }

  /** As long as the spawner has both ends: none of these waits for another one, and all hear of the end. */
  #open([input, ...outputs]: Started['streams']): [Socket | undefined, Socket, Socket] {
    const { exitCode, signalCode } = this.#child;
    // Its number is its own until Node has heard of its end.
    if (exitCode !== null || signalCode !== null) {
      throw new Error(endedMessage);
    }
    const opened: number[] = [];
    const open = (end: number, flag: number): number => {
      opened.push(openSync(`${this.#folder}/${end}`, flag | constants.O_NONBLOCK));
      return opened.at(-1) as number;
    };
    try {
      const [output, errors] = outputs.map((end) => open(end, constants.O_RDONLY)) as [number, number];
      const stdin = input < 0 ? undefined : open(input, constants.O_WRONLY);
      return [
        stdin === undefined ? undefined : new Socket({ fd: stdin, readable: false, writable: true }),
        new Socket({ fd: output, readable: true, writable: false }),
        new Socket({ fd: errors, readable: true, writable: false }),
      ];
    } catch (error) {
      opened.forEach((end) => closeSync(end));
      throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error(endedMessage) : error;
    }
  }

  #hear(chunk: Buffer): void {
    try {
      this.#reader.read(chunk).forEach((answer) => this.#take(answer));
    } catch {
      this.#end();
    }
  }

  #take(answer: SpawnerAnswer): void {
    switch (answer.kind) {
      case 'ready':
        if (answer.version !== spawnerVersion) {
          throw new Error(`version ${answer.version}`);
        }
        // Throws where /proc is closed to this process.
        readlinkSync(`${this.#folder}/0`);
        this.#ready.resolve(true);
        break;
      case 'started':
        this.#started(answer);
        break;
      case 'ended':
        this.#running.get(answer.pid)?.(exitOf(answer));
        break;
    }
  }

  #order(order: Buffer): void {
    if (!this.#hasEnded) {
      this.#orders.write(order);
    }
  }

  /** Keeps this process alive while somebody waits, and only then. */
  async #whileWaiting<T>(promise: Promise<T>): Promise<T> {
    this.#waiting += 1;
    this.#answers.ref();
    try {
      return await promise;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) {
        this.#answers.unref();
      }
    }
  }

  #end(): void {
    if (this.#hasEnded) {
      return;
    }
    this.#hasEnded = true;
    this.#ready.resolve(false);
    this.#child.kill('SIGKILL');
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    // The system ends what it has started together with it.
    this.#starts.forEach(({ reject }) => reject(new Error(endedMessage)));
    this.#starts.clear();
    this.#running.forEach((resolve) => resolve(killed));
  }
}

const endedMessage = 'the process that starts commands was ended, and all commands with it';

function exitOf({ exitCode, signal }: Extract<SpawnerAnswer, { readonly kind: 'ended' }>): ChildExit {
  const name = signal === 0 ? undefined : signalName(signal);
  return signal === 0
    ? { exitCode }
    : { exitCode: 128 + signal, ...(name !== undefined && { signal: name }) };
}

/** As Node names it. */
function spawnError({ argv: [file], cwd }: PipedSpec, code: string): Error {
  return Object.assign(new Error(`spawn ${file} ${code}`), {
    code,
    syscall: `spawn ${file}`,
    path: file,
    cwd,
  });
}
