import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../../../base/log.ts';
import type { Result } from '../../../base/result.ts';
import { errorCode } from '../../../sandbox/paths.ts';
import { buildOf } from '../../execServer/buildOf.ts';
import type { Dial, ExecClient } from '../../execServer/client/execClient.ts';
import { ServerGone } from '../../execServer/client/execClient.ts';
import { errorCodes, RpcError } from '../../execServer/protocol/errors.ts';
import type { EnvironmentError } from '../environment.ts';
import type { ServerRecord, ServerRecords } from './serverRecords.ts';
import type { ServerPatience } from './spawnServer.ts';
import { spawnServer } from './spawnServer.ts';

export interface LocalServersOptions {
  readonly log: Log;
  /** `dist/cli.js`. */
  readonly program: string;
  readonly records: ServerRecords;
  /** A folder that only this user may look into, and commands not at all. */
  readonly runtimeFolder: () => Result<string, { readonly message: string; readonly hint: string }>;
  readonly environment: NodeJS.ProcessEnv;
  readonly patience?: ServerPatience;
}

/** A server of another window may keep its session for so long, and this one's may be on its way out. */
export const recoveryMs = 3_000;

/** The servers of this machine: starts them, finds those again that an earlier program has left, and remembers both. */
export class LocalServers {
  readonly #options: LocalServersOptions;
  readonly #old = new WeakSet<ExecClient>();

  constructor(options: LocalServersOptions) {
    this.#options = options;
  }

  /** The session of an earlier program for this workspace, unless another window has it. */
  async takeOver(): Promise<ExecClient | undefined> {
    const { program, records, log } = this.#options;
    for (const record of records.list()) {
      try {
        const client = await this.#open(record.path, record.sessionId);
        if (client.info.cordon?.build === buildOf(dirname(program))) {
          log.info(`Took over the session on ${record.path}.`);
          return client;
        }
        if (await isInUse(client)) {
          this.#old.add(client);
          log.warn(
            `Took over the session on ${record.path}, whose server is of another build (${client.info.executorVersion}): commands go on running in it until nothing of it runs.`,
          );
          return client;
        }
        await this.leave(client);
      } catch (cause) {
        if (cause instanceof RpcError && cause.code === errorCodes.sessionAttached) {
          log.info(`The session on ${record.path} belongs to another window.`);
        } else {
          log.info(`The session on ${record.path} is gone: ${String(cause)}`);
          await this.#forgetRecord(record, cause);
        }
      }
    }
    return undefined;
  }

  /** Starts a server; rejects with the reason, a {@link Refused} where a person can do something about it. */
  async start(): Promise<ExecClient> {
    const { program, environment, records, patience } = this.#options;
    const folder = this.#options.runtimeFolder();
    if (!folder.ok) {
      throw new Refused({ kind: 'refused', ...folder.error });
    }
    const path = await spawnServer({
      ...{ program, folder: folder.value, environment },
      ...(patience && { patience }),
    });
    const client = await this.#open(path);
    try {
      // Before anything is started in it: what nobody finds again would be lost.
      await records.add({ path, sessionId: client.sessionId });
      return client;
    } catch (cause) {
      client.dispose();
      throw cause;
    }
  }

  /** Whether it was taken over from a program of another build. */
  isOld(client: ExecClient): boolean {
    return this.#old.has(client);
  }

  /** Of a server from before an update, which has nothing more to run: it ends by itself. */
  async leave(client: ExecClient): Promise<void> {
    this.#options.log.info(
      'Left a server of another build, in which nothing runs: a new one takes its place.',
    );
    client.dispose();
    await this.forget(client);
  }

  /** It will not be found again. */
  async forget({ sessionId }: ExecClient): Promise<void> {
    const record = this.#options.records.list().find((one) => one.sessionId === sessionId);
    if (record !== undefined) {
      await this.#remove(record);
    }
  }

  async #open(path: string, resumeSessionId?: string): Promise<ExecClient> {
    const { connectExecClient } = await import('../../execServer/client/connectExecClient.ts');
    return connectExecClient(dialLocal(path), {
      clientName: 'cordon',
      log: this.#options.log,
      timing: { recoveryMs },
      ...(resumeSessionId !== undefined && { resumeSessionId }),
    });
  }

  async #forgetRecord(record: ServerRecord, cause: unknown): Promise<void> {
    if (cause instanceof ServerGone) {
      rmSync(record.path, { force: true });
    }
    await this.#remove(record);
  }

  /** A record too many costs the next program an attempt, and nothing more. */
  async #remove(record: ServerRecord): Promise<void> {
    try {
      await this.#options.records.remove(record);
    } catch (cause) {
      this.#options.log.warn(`The record of ${record.path} could not be removed: ${String(cause)}`);
    }
  }
}

/** Whether something runs in the session; one that cannot be asked may have something. */
export async function isInUse(client: ExecClient): Promise<boolean> {
  try {
    const { processes } = await client.call('cordon/process/list', {});
    return processes.some(({ isRunning }) => isRunning);
  } catch {
    return true;
  }
}

/** Nothing of the socket of a server that has ended can come back. */
function dialLocal(path: string): Dial {
  return async (signal) => {
    const { dialUnixSocket } = await import('../../execServer/client/dial.ts');
    try {
      return await dialUnixSocket(path)(signal);
    } catch (cause) {
      const code = errorCode(cause);
      throw code === 'ENOENT' || code === 'ECONNREFUSED'
        ? new ServerGone('its server has ended', { cause })
        : cause;
    }
  };
}

/** A reason that is meant for a person. */
export class Refused extends Error {
  readonly error: EnvironmentError;

  constructor(error: EnvironmentError) {
    super(error.message);
    this.error = error;
  }
}
