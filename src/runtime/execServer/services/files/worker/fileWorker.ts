import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { constants } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import type { Disposable } from '../../../../../base/disposable.ts';
import type { Log } from '../../../../../base/log.ts';
import type { SandboxPolicy } from '../../../../../sandbox/policy/policy.ts';
import type { Launch, SandboxManager } from '../../../../../sandbox/sandboxManager.ts';
import { killSandbox } from '../../../../../terminal/processGroup.ts';
import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import { missingChangedEvent } from '../../../protocol/files.ts';
import type { NotificationParams, ParamsOf, ResultOf } from '../../../protocol/methods.ts';
import { methods } from '../../../protocol/methods.ts';
import { linesTransport } from '../../../transport/lines.ts';
import type { MessageTransport } from '../../../transport/messageTransport.ts';
import type { FileMethod } from '../fileMethods.ts';
import type { JudgeFacts } from '../policyJudge.ts';
import type { WorkerRequest, WorkerSetup } from './workerMessages.ts';
import { withLibraries } from './workerPolicy.ts';

export interface WorkerOptions {
  readonly sandbox: SandboxManager;
  /** Starts `serveFiles` on standard input and output. */
  readonly argv: readonly string[];
  readonly facts: JudgeFacts;
  readonly log: Log;
  /** How long it is kept without work. */
  readonly idleMs: number;
}

/** Somebody waits for its answer. */
interface Pending {
  readonly result: z.ZodType;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: RpcError) => void;
}

interface Running {
  readonly child: ChildProcess;
  readonly launch: Launch;
  readonly lines: MessageTransport;
}

const answer = z.union([
  z.object({ id: z.int(), error: z.object({ code: z.int(), message: z.string() }) }),
  z.object({ id: z.int(), result: z.unknown() }),
  z.object({ missingChanged: missingChangedEvent }),
]);

/**
 * Does the file calls of one policy in a process inside its sandbox: started on the first call, shared by all, ended
 * when it has had nothing to do for a while. It ends once; then a new one takes its place.
 */
export class FileWorker implements Disposable {
  readonly #policy: SandboxPolicy;
  readonly #options: WorkerOptions;
  readonly #onEnd: () => void;
  readonly #onMissingChanged: (event: NotificationParams<'fs/missingChanged'>) => void;
  readonly #pending = new Map<number, Pending>();
  #running: Promise<Running> | undefined;
  #lastId = 0;
  #holds = 0;
  #idle: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    policy: SandboxPolicy,
    options: WorkerOptions,
    onEnd: () => void,
    onMissingChanged: (event: NotificationParams<'fs/missingChanged'>) => void,
  ) {
    this.#policy = policy;
    this.#options = options;
    this.#onEnd = onEnd;
    this.#onMissingChanged = onMissingChanged;
  }

  /** Keeps it although it has nothing to do: for open files and watches. */
  hold(): Disposable {
    let isHeld = true;
    this.#holds++;
    return {
      dispose: () => {
        this.#holds -= isHeld ? 1 : 0;
        isHeld = false;
        this.#rest();
      },
    };
  }

  async call<M extends FileMethod>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>> {
    return (await this.#request(method, params, methods[method].result)) as ResultOf<M>;
  }

  async endWatch(): Promise<void> {
    if (!this.#isOver) {
      await this.#request('endWatch', {}, z.object({}));
    }
  }

  dispose(): void {
    this.#end('the connection is closed');
    this.#running?.then(kill, () => undefined);
  }

  async #request(method: WorkerRequest['method'], params: unknown, result: z.ZodType): Promise<unknown> {
    const held = this.hold();
    clearTimeout(this.#idle);
    try {
      this.#running ??= this.#start().catch((cause: unknown) => {
        // Another one takes its place with the next call.
        this.#end(String(cause));
        throw cause;
      });
      const { lines } = await this.#running;
      if (this.#isOver) {
        throw ended('it has just ended');
      }
      const id = ++this.#lastId;
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { result, resolve, reject });
        lines.send(JSON.stringify({ id, method, params } satisfies WorkerRequest));
      });
    } finally {
      held.dispose();
    }
  }

  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#holds === 0 && !this.#isOver) {
      this.#idle = setTimeout(() => {
        this.#end('it had nothing to do');
        // Its input ends, and so does it.
        this.#running?.then(
          ({ lines }) => lines.close(),
          () => undefined,
        );
      }, this.#options.idleMs).unref();
    }
  }

  async #start(): Promise<Running> {
    const { sandbox, argv, facts, log } = this.#options;
    const launched = await sandbox.transform(withLibraries(this.#policy), {
      argv,
      cwd: '/',
      env: process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' },
      tty: false,
    });
    if (!launched.ok) {
      const { message, hint } = launched.error;
      throw new RpcError(
        errorCodes.internal,
        `The sandbox of a file call does not start: ${message} ${hint}`,
      );
    }
    const launch = launched.value;
    const release = (): void => {
      launch.release().catch((error: unknown) => log.warn(`file worker: ${String(error)}`));
    };
    const child = spawnWorker(launch, release);
    child.once('close', release);
    const complaints = lastText(child.stderr as Readable);
    const lines = linesTransport(child.stdout as Readable, child.stdin as Writable, 'file worker', {
      maxMessageBytes: constants.MAX_STRING_LENGTH,
    });
    lines.onMessage((text) => this.#receive(text));
    const over = (reason?: string): void => {
      const known = [reason, complaints()].filter((text) => text !== undefined && text !== '');
      this.#end(known.join(': ') || 'it went away');
      kill({ child, launch });
    };
    lines.onClose(({ reason }) => over(reason));
    child.once('error', (error) => over(error.message));
    lines.resume();
    lines.send(JSON.stringify({ policy: this.#policy, facts } satisfies WorkerSetup));
    log.debug(`file worker: ${child.pid ?? 'none'} for ${this.#policy.root} (${this.#policy.mode})`);
    return { child, launch, lines };
  }

  #receive(text: string): void {
    const parsed = answer.safeParse(parseJson(text));
    if (!parsed.success) {
      this.#options.log.warn('file worker: an answer that is none');
      this.dispose();
      return;
    }
    const message = parsed.data;
    if ('missingChanged' in message) {
      this.#onMissingChanged(message.missingChanged);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ('error' in message) {
      pending?.reject(new RpcError(message.error.code, message.error.message));
      return;
    }
    const result = pending?.result.safeParse(message.result);
    if (result?.success === true) {
      pending?.resolve(result.data);
    } else {
      pending?.reject(ended('its answer is no result of that method'));
    }
  }

  #end(reason: string): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    clearTimeout(this.#idle);
    for (const { reject } of this.#pending.values()) {
      reject(ended(reason));
    }
    this.#pending.clear();
    this.#onEnd();
  }
}

function spawnWorker({ owner, argv, cwd, env }: Launch, release: () => void): ChildProcess {
  const [file = '', ...args] = [...owner, ...argv];
  try {
    return spawn(file, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    // Without memory, or with too long an environment, Node throws at once.
    release();
    throw error;
  }
}

function kill({ child, launch }: Pick<Running, 'child' | 'launch'>): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    if (launch.sandbox === 'none') {
      child.kill('SIGKILL');
    } else {
      killSandbox(child.pid, launch.sandbox);
    }
  }
}

function ended(reason: string): RpcError {
  return new RpcError(
    errorCodes.internal,
    `the process that does file calls in the sandbox failed: ${reason}`,
  );
}

/** The end of what it complains about. */
function lastText(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(-2000)));
  return () => text.trim();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
