import type { Result } from '../../../../base/result.ts';
import type { SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../../../sandbox/policy/policy.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { ParamsOf, ResultOf } from '../../protocol/methods.ts';
import type { SandboxContext } from '../../protocol/sandboxContext.ts';
import type { AnswerBudget } from '../../server/answerBudget.ts';
import type { Call, Handlers, ServedConnection, Service, ServiceFactory } from '../../server/service.ts';
import type { Bounded, FileMethod } from './fileMethods.ts';
import { FileMethods } from './fileMethods.ts';
import { HandleTable } from './handleTable.ts';
import { judgeByName } from './judgeByName.ts';
import { noJudge } from './judge.ts';
import {
  base64Length,
  largestListing,
  largestWalk,
  longestInOneMessage,
  mostMissing,
  outgrown,
  smallFile,
  smallListing,
} from './limits.ts';
import { policyJudge } from './policyJudge.ts';
import type { FileExecutor } from './fileExecutor.ts';
import type { WorkerOptions } from './worker/fileWorker.ts';
import { FileWorkers } from './worker/fileWorkers.ts';

/** What the words of a call about its sandbox mean on this machine, at this moment. */
export type Confine = (context: SandboxContext) => Promise<Result<SandboxPolicy, RpcError>>;

export interface FileServiceOptions {
  /** What whole files that are not small wait for. */
  readonly answers: AnswerBudget;
  readonly confine: Confine;
  /** What confines workers from now on, and what they know: a client may configure both. */
  readonly surroundings: (policy: SandboxPolicy) => Pick<WorkerOptions, 'sandbox' | 'facts'>;
  /** Runs `cordon file-worker`. */
  readonly workerArgv: readonly string[];
  /** How long a worker is kept without work; 3 s by default. */
  readonly idleMs?: number;
}

const defaultIdleMs = 3000;

/** The file methods: done here for calls without a sandbox, by a worker inside of it for the others. */
export function createFileService(options: FileServiceOptions): ServiceFactory {
  return (connection) => new FileService(options, connection);
}

class FileService implements Service {
  readonly handlers: Handlers;
  readonly capabilities = ['fsWatchMissing', 'sandboxedFileStreaming', 'fileWriteStreaming'];
  readonly #options: FileServiceOptions;
  readonly #connection: ServedConnection;
  readonly #handles = new HandleTable();
  readonly #here: FileExecutor;
  readonly #workers: FileWorkers;
  #lastWatchId = 0;
  #watch: { readonly watchId: number; readonly end: () => Promise<void> } | undefined;
  #watching: Promise<unknown> = Promise.resolve();

  constructor(options: FileServiceOptions, connection: ServedConnection) {
    this.#options = options;
    this.#connection = connection;
    const missingChanged = ({ watchId }: { readonly watchId: number }): void => this.#missingChanged(watchId);
    const here = new FileMethods({ judge: () => noJudge, missingChanged });
    this.#here = {
      call: (method, params) => here.call(method, params),
      endWatch: async () => here.endWatch(),
      hold: () => ({ dispose: () => undefined }),
    };
    this.#workers = new FileWorkers(
      (policy) => ({
        ...options.surroundings(policy),
        argv: options.workerArgv,
        log: connection.log,
        idleMs: options.idleMs ?? defaultIdleMs,
      }),
      { missingChanged, ended: (worker) => this.#handles.forget(worker) },
    );
    connection.closed.addEventListener('abort', () => {
      here.dispose();
      this.#workers.dispose();
    });
    this.handlers = {
      'fs/readFile': (params, call) => this.#readFile(params, call),
      'fs/writeFile': (params) => this.#call('fs/writeFile', params),
      'fs/createDirectory': (params) => this.#call('fs/createDirectory', params),
      'fs/getMetadata': (params) => this.#call('fs/getMetadata', params),
      'fs/canonicalize': (params) => this.#call('fs/canonicalize', params),
      'fs/readDirectory': (params, call) => this.#list('fs/readDirectory', params, largestListing, call),
      'fs/walk': (params, call) => this.#list('fs/walk', params, largestWalk, call),
      'fs/remove': (params) => this.#call('fs/remove', params),
      'fs/copy': (params) => this.#call('fs/copy', params),
      'fs/open': (params) => this.#open(params),
      'fs/readBlock': (params) => this.#handles.read(params),
      'fs/writeBlock': (params) => this.#handles.write(params),
      'fs/close': (params) => this.#handles.close(params),
      'fs/watchMissing': (params) => this.#watchMissing(params),
    };
  }

  async #call<M extends FileMethod>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>> {
    return (await this.#executorFor(method, params)).call(method, withoutSandbox(params));
  }

  /** Begun when there is room for all of it, which a file tells beforehand; of those in /proc it turns out. */
  async #readFile(params: ParamsOf<'fs/readFile'>, call: Call): Promise<ResultOf<'fs/readFile'>> {
    const executor = await this.#executorFor('fs/readFile', params);
    const bare = withoutSandbox(params);
    const working = executor.hold();
    try {
      const expected = await expectedSize(executor, bare);
      return await this.#readWithRoom(executor, { ...bare, atMost: expected }, call).catch(
        (error: unknown) => {
          if (error instanceof RpcError && error.code === outgrown) {
            return this.#readWithRoom(executor, { ...bare, atMost: longestInOneMessage }, call);
          }
          throw error;
        },
      );
    } finally {
      working.dispose();
    }
  }

  async #readWithRoom(
    executor: FileExecutor,
    params: Bounded<'fs/readFile'> & { readonly atMost: number },
    call: Call,
  ): Promise<ResultOf<'fs/readFile'>> {
    const read = (): Promise<ResultOf<'fs/readFile'>> => executor.call('fs/readFile', params);
    return params.atMost <= smallFile ? read() : this.#withRoom(base64Length(params.atMost), call, read);
  }

  /** How much it is turns out: small ones wait for nobody, large ones are begun anew when there is room. */
  async #list<M extends 'fs/readDirectory' | 'fs/walk'>(
    method: M,
    params: ParamsOf<M>,
    largest: number,
    call: Call,
  ): Promise<ResultOf<M>> {
    const executor = await this.#executorFor(method, params);
    const bare = withoutSandbox(params);
    const working = executor.hold();
    try {
      return await executor.call(method, { ...bare, atMost: smallListing }).catch((error: unknown) => {
        if (error instanceof RpcError && error.code === outgrown) {
          return this.#withRoom(largest, call, () => executor.call(method, bare));
        }
        throw error;
      });
    } finally {
      working.dispose();
    }
  }

  async #withRoom<T>(bytes: number, { signal, holdUntilTaken }: Call, answer: () => Promise<T>): Promise<T> {
    const room = await this.#options.answers.take(bytes, signal);
    try {
      const result = await answer();
      holdUntilTaken(room);
      return result;
    } catch (error) {
      room.dispose();
      throw error;
    }
  }

  #open(params: ParamsOf<'fs/open'>): Promise<ResultOf<'fs/open'>> {
    return this.#handles.open(params.handleId, async () => {
      const executor = await this.#executorFor('fs/open', params);
      const held = executor.hold();
      try {
        await executor.call('fs/open', withoutSandbox(params));
        return { executor, held };
      } catch (error) {
        held.dispose();
        throw error;
      }
    });
  }

  /** One after another: each replaces the one before. */
  #watchMissing(params: ParamsOf<'fs/watchMissing'>): Promise<ResultOf<'fs/watchMissing'>> {
    const done = this.#watching.then(() => this.#replaceWatch(params));
    this.#watching = done.catch(() => undefined);
    return done;
  }

  async #replaceWatch(params: ParamsOf<'fs/watchMissing'>): Promise<ResultOf<'fs/watchMissing'>> {
    const { watchId, missing } = params;
    if (watchId <= this.#lastWatchId || missing.length === 0 || missing.length > mostMissing) {
      return { watching: false };
    }
    const executor = await this.#executorFor('fs/watchMissing', params);
    this.#lastWatchId = watchId;
    await this.#watch?.end().catch(() => undefined);
    const held = executor.hold();
    const watch = {
      watchId,
      end: async () => {
        held.dispose();
        await executor.endWatch();
      },
    };
    this.#watch = watch;
    let isWatching = false;
    try {
      isWatching = (await executor.call('fs/watchMissing', withoutSandbox(params))).watching;
    } finally {
      if (!isWatching) {
        this.#watch = undefined;
        held.dispose();
      }
    }
    return { watching: isWatching };
  }

  #missingChanged(watchId: number): void {
    const watch = this.#watch;
    if (watch?.watchId === watchId && !this.#connection.closed.aborted) {
      this.#watch = undefined;
      watch.end().catch(() => undefined);
      this.#connection.notify('fs/missingChanged', { watchId });
    }
  }

  async #executorFor<M extends FileMethod>(method: M, params: ParamsOf<M>): Promise<FileExecutor> {
    const context = 'sandbox' in params ? params.sandbox : undefined;
    if (context == null) {
      return this.#here;
    }
    const confined = await this.#options.confine(context);
    if (!confined.ok) {
      throw confined.error;
    }
    const policy = confined.value;
    if (isUnsandboxed(policy)) {
      return this.#here;
    }
    await judgeByName(method, params, policyJudge(policy, this.#options.surroundings(policy).facts));
    if (this.#connection.closed.aborted) {
      throw new RpcError(errorCodes.internal, 'the connection is closed');
    }
    return this.#workers.of(policy);
  }
}

function withoutSandbox<P extends object>(params: P): P {
  return { ...params, sandbox: undefined };
}

/** What cannot be looked at, or is too large, fails when it is read, in the words for that. */
async function expectedSize(executor: FileExecutor, params: ParamsOf<'fs/readFile'>): Promise<number> {
  const size = await executor.call('fs/getMetadata', params).then(
    (metadata) => metadata.size,
    () => 0,
  );
  return size > longestInOneMessage ? smallFile : Math.max(size, smallFile);
}
