import { randomBytes } from 'node:crypto';
import type { Door, DoorConnection, HeldPaths } from '../../../../sandbox/sandboxManager.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { ServedConnection } from '../../server/service.ts';

interface Visit {
  readonly connection: DoorConnection;
  readonly send: (chunk: Buffer) => void;
  /** The client knows of it. */
  isTold: boolean;
}

/**
 * The doors of the commands of one session, and who has come through them: programs in sandboxes, which may say
 * anything. What they say goes to the session's client as it is. Without a client nobody is let in, and nobody stays.
 */
export class DoorTable {
  /** By ids that nobody guesses. */
  readonly #visits = new Map<string, Visit>();
  /** By the process whose door it is. */
  readonly #sandboxes = new Map<string, HeldPaths>();
  #client: ServedConnection | undefined;
  #isHeld = false;

  attach(client: ServedConnection): void {
    this.#client = client;
  }

  /** Whoever waits for an answer gets none any more. */
  detach(): void {
    this.#client = undefined;
    const visits = [...this.#visits.values()];
    this.#visits.clear();
    visits.forEach(({ connection }) => connection.destroy());
  }

  /** The door for a process that is about to be started. */
  open(processId: string, programs: readonly string[]): Door {
    return {
      programs,
      restricted: programs,
      accept: (connection, sandbox) => {
        this.#sandboxes.set(processId, sandbox);
        void this.#admit(processId, connection);
      },
    };
  }

  /** The process has ended. */
  forget(processId: string): void {
    this.#sandboxes.delete(processId);
  }

  send(connectionId: string, bytes: Uint8Array): void {
    const { connection } = this.#visit(connectionId);
    // An answer is short: whoever leaves so much unread does not want it.
    if (!connection.write(bytes)) {
      connection.destroy();
    }
  }

  /** Ends it when what was sent is on its way. */
  close(connectionId: string): void {
    const connection = this.#visits.get(connectionId)?.connection;
    connection?.end(() => connection.destroy());
  }

  /** The connection itself, of which the client gets nothing more. */
  take(connectionId: string): DoorConnection {
    const { connection, send } = this.#visit(connectionId);
    this.#visits.delete(connectionId);
    connection.off('data', send);
    connection.pause();
    return connection;
  }

  async isHeld(processId: string, path: string): Promise<boolean> {
    const sandbox = this.#sandboxes.get(processId);
    if (sandbox === undefined) {
      throw new RpcError(errorCodes.invalidRequest, `nobody came through a door of process ${processId}`);
    }
    return sandbox.isHeld(path);
  }

  #visit(connectionId: string): Visit {
    const visit = this.#visits.get(connectionId);
    if (visit === undefined) {
      throw new RpcError(errorCodes.invalidRequest, `unknown door connection ${connectionId}`);
    }
    return visit;
  }

  async #admit(processId: string, connection: DoorConnection): Promise<void> {
    const client = this.#client;
    if (client === undefined) {
      connection.destroy();
      return;
    }
    const connectionId = randomBytes(16).toString('hex');
    const send = (chunk: Buffer): void => this.#pass(connectionId, chunk);
    const visit: Visit = { connection, send, isTold: false };
    this.#visits.set(connectionId, visit);
    connection.once('close', () => {
      if (this.#visits.delete(connectionId) && visit.isTold) {
        this.#client?.notify('cordon/door/ended', { connectionId });
      }
    });
    // A door has room for so many only, so nothing piles up here either.
    await client.whenWritable();
    if (this.#visits.has(connectionId)) {
      visit.isTold = true;
      client.notify('cordon/door/opened', { processId, connectionId });
      connection.on('data', send);
      this.#steer(visit);
    }
  }

  #pass(connectionId: string, chunk: Buffer): void {
    const client = this.#client;
    client?.notify('cordon/door/data', { connectionId, chunk: chunk.toString('base64') });
    if (client?.isWritable === false && !this.#isHeld) {
      void this.#hold(client);
    }
  }

  /** One chunk too much is enough for all of them to wait. */
  async #hold(client: ServedConnection): Promise<void> {
    this.#isHeld = true;
    this.#visits.forEach((visit) => this.#steer(visit));
    await client.whenWritable();
    this.#isHeld = false;
    this.#visits.forEach((visit) => this.#steer(visit));
  }

  /** Nothing is read before the client knows from whom it is. */
  #steer({ connection, isTold }: Visit): void {
    if (isTold && !this.#isHeld) {
      connection.resume();
    } else {
      connection.pause();
    }
  }
}
