import type { Log } from '../../../base/log.ts';
import type { Door } from '../../../sandbox/sandboxManager.ts';
import type { ClientState, ExecClient } from './execClient.ts';
import { RemoteDoors } from './remoteDoors.ts';
import { RemoteProcess } from './remoteProcess.ts';
import type { RemoteProcessOptions } from './remoteProcess.ts';
import type { ClientTiming } from './timing.ts';
import { defaultTiming } from './timing.ts';

/** The processes of one session: brings each its events, through every connection, and its end when there is none. */
export class RemoteProcesses {
  readonly #client: ExecClient;
  readonly #log: Log;
  readonly #timing: ClientTiming;
  readonly #processes = new Map<string, RemoteProcess>();
  readonly #doors: RemoteDoors;
  #wasConnected = true;

  constructor(client: ExecClient, log: Log, timing: Partial<ClientTiming> = {}) {
    this.#client = client;
    this.#doors = new RemoteDoors(client);
    this.#log = log;
    this.#timing = { ...defaultTiming, ...timing };
    client.onNotification('process/output', (event) => this.#processes.get(event.processId)?.output(event));
    client.onNotification('process/exited', (event) => this.#processes.get(event.processId)?.exited(event));
    client.onNotification('process/closed', (event) => this.#processes.get(event.processId)?.closing(event));
    client.onDidChangeState((state) => this.#follow(state));
  }

  /** Listens for the events of a process that is about to be started, or is there already. */
  add(
    processId: string,
    {
      door,
      ...kind
    }: Pick<RemoteProcessOptions, 'isTty' | 'hasInput'> & { readonly door?: Door | undefined },
  ): RemoteProcess {
    const process = new RemoteProcess({
      client: this.#client,
      processId,
      ...kind,
      log: this.#log,
      timing: this.#timing,
      onGone: () => this.remove(processId),
    });
    this.#processes.set(processId, process);
    if (door !== undefined) {
      this.#doors.add(processId, door);
    }
    return process;
  }

  remove(processId: string): void {
    this.#processes.delete(processId);
    this.#doors.remove(processId);
  }

  #follow(state: ClientState): void {
    switch (state.kind) {
      case 'recovering':
        this.#wasConnected = false;
        break;
      case 'connected':
        if (!this.#wasConnected) {
          this.#wasConnected = true;
          for (const process of this.#processes.values()) {
            void process.fetch();
          }
        }
        break;
      case 'lost':
        for (const process of [...this.#processes.values()]) {
          process.fail(
            `the connection to the machine that runs it is lost: ${state.reason}. It may have gone on there, or ended: ` +
              'look at what it would have changed before running it again; the next command connects anew.',
          );
        }
        break;
    }
  }
}
