import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';

/** A pipe of the kernel: two descriptors of this process, whose holder closes them. */
export interface Pipe {
  /** Does not block. */
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** As in `helper/pipes.c`. */
const firstPipe = 3;
const pipeCount = 32;

const patienceMs = 2_000;

/** One companion process that makes pipes by the batch; it ends with this one. */
export class PipeMaker {
  readonly #child: ChildProcess;
  readonly #input: Socket;
  readonly #output: Socket;
  readonly #onEnd: () => void;
  #batch: PromiseWithResolvers<readonly Pipe[] | undefined> | undefined;
  #pipes: Pipe[] = [];
  #patience: NodeJS.Timeout | undefined;
  #hasEnded = false;

  /** `onEnd` is called once, when no more pipes come, whatever the reason. */
  constructor(companion: string, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#child = spawn(companion, ['--pipes', String(process.pid)], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.on('error', () => this.end());
    if (!(this.#child.stdin instanceof Socket && this.#child.stdout instanceof Socket)) {
      throw new Error('no descriptors are left');
    }
    this.#input = this.#child.stdin;
    this.#output = this.#child.stdout;
    this.#input.on('error', () => {});
    this.#output.on('data', (answers: Buffer) => this.#hear(answers.toString('latin1')));
    this.#output.on('error', () => {});
    this.#output.on('close', () => this.end());
    [this.#child, this.#input, this.#output].forEach((held) => held.unref());
  }

  /** Keeps this process alive while somebody waits, and only then. */
  set isWaitedFor(isWaitedFor: boolean) {
    if (isWaitedFor) {
      this.#output.ref();
    } else {
      this.#output.unref();
    }
  }

  /** Pipes of which this process has the only descriptors; undefined when that failed. One batch at a time. */
  async make(): Promise<readonly Pipe[] | undefined> {
    this.#batch = Promise.withResolvers();
    // What has come while the event loop was blocked is heard before patience ends.
    this.#patience = setTimeout(
      () => setImmediate(() => this.#batch !== undefined && this.end()),
      patienceMs,
    );
    this.#patience.unref();
    this.#input.write('m');
    return this.#batch.promise;
  }

  end(): void {
    if (this.#hasEnded) {
      return;
    }
    this.#hasEnded = true;
    this.#pipes.splice(0).forEach(closePipe);
    this.#finish(undefined);
    this.#child.kill('SIGKILL');
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    this.#onEnd();
  }

  #hear(answer: string): void {
    if (this.#hasEnded || this.#batch === undefined) {
      return;
    }
    if (answer === 'm' && this.#open()) {
      this.#input.write('c');
    } else if (answer === 'c') {
      this.#finish(this.#pipes.splice(0));
    } else {
      this.end();
    }
  }

  #finish(pipes: readonly Pipe[] | undefined): void {
    clearTimeout(this.#patience);
    const batch = this.#batch;
    this.#batch = undefined;
    batch?.resolve(pipes);
  }

  #open(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    // Its number is its own until Node has heard of its end.
    if (pid === undefined || exitCode !== null || signalCode !== null) {
      return false;
    }
    try {
      for (let index = 0; index < pipeCount; index += 1) {
        this.#pipes.push(openPipe(`/proc/${pid}/fd/`, firstPipe + 2 * index));
      }
      return true;
    } catch {
      return false;
    }
  }
}

/** Never waits for another end, should that be gone: the first end does not, and is there for the second. */
function openPipe(folder: string, number: number): Pipe {
  const readEnd = openSync(`${folder}${number}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readEnd, writeEnd: openSync(`${folder}${number + 1}`, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
}

export function closePipe({ readEnd, writeEnd }: Pipe): void {
  closeSync(readEnd);
  closeSync(writeEnd);
}
