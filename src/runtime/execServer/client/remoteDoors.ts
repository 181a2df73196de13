import type { Door } from '../../../sandbox/sandboxManager.ts';
import type { NotificationParams } from '../protocol/methods.ts';
import type { ExecClient } from './execClient.ts';
import { TunnelledConnection } from './tunnelledConnection.ts';

/** The doors of the commands that this program has started in one session, and who has come through them. */
export class RemoteDoors {
  readonly #client: ExecClient;
  readonly #doors = new Map<string, Door>();
  readonly #connections = new Map<string, TunnelledConnection>();

  constructor(client: ExecClient) {
    this.#client = client;
    client.onNotification('cordon/door/opened', (event) => this.#open(event));
    client.onNotification('cordon/door/data', ({ connectionId, chunk }) =>
      this.#connections.get(connectionId)?.receive(Buffer.from(chunk, 'base64')),
    );
    client.onNotification('cordon/door/ended', ({ connectionId }) =>
      this.#connections.get(connectionId)?.ended(),
    );
    client.onDidChangeState(({ kind }) => {
      // The server ends them with the connection over which they came.
      if (kind !== 'connected') {
        this.#connections.forEach((connection) => connection.ended());
      }
    });
  }

  /** For the process with that id, from its very start. */
  add(processId: string, door: Door): void {
    this.#doors.set(processId, door);
  }

  remove(processId: string): void {
    this.#doors.delete(processId);
  }

  #open({ processId, connectionId }: NotificationParams<'cordon/door/opened'>): void {
    const connection = new TunnelledConnection(this.#client, connectionId);
    const door = this.#doors.get(processId);
    if (door === undefined) {
      // Of a program before this one: nobody here answers.
      connection.destroy();
      return;
    }
    this.#connections.set(connectionId, connection);
    connection.once('close', () => this.#connections.delete(connectionId));
    door.accept(connection, {
      isHeld: async (path) => (await this.#client.call('cordon/door/isHeld', { processId, path })).isHeld,
    });
  }
}
