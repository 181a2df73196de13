import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { socketPathIn, sweepSockets } from '../network/socketFiles.ts';
import type { Door, HeldPaths } from '../sandboxManager.ts';
import { doorInside, helperInside, partsInside } from './bubblewrap/machine.ts';
import type { Mount } from './bubblewrap/mounts.ts';

/** Enough for a script that starts a hundred programs at once; more are turned away. */
const mostConnections = 256;

/** A door that one sandbox has. */
export interface OpenDoor {
  readonly mounts: readonly Mount[];
  /** Ends every connection. */
  dispose(): void;
}

/** Doors for parts of scripts: a socket of its own for each command, so that every question is known to be from there. */
export class Doors {
  readonly #folder: string;
  #swept: Promise<void> | undefined;

  /** `folder`: the runtime folder, which no command can see. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Rejects when the socket cannot be made. */
  async open(door: Door, sandbox: HeldPaths): Promise<OpenDoor> {
    this.#swept ??= sweepSockets(this.#folder);
    await this.#swept;
    const path = socketPathIn(this.#folder, 'part');
    const connections = new Set<Socket>();
    const server = createServer({ pauseOnConnect: true }, (connection) => {
      connections.add(connection);
      // Who is behind it may end at any time.
      connection.on('error', () => {});
      connection.once('close', () => connections.delete(connection));
      door.accept(connection, sandbox);
    });
    server.maxConnections = mostConnections;
    server.listen({ path });
    await once(server, 'listening');
    return {
      mounts: mountsOf(door.programs, path),
      dispose() {
        server.close();
        connections.forEach((connection) => connection.destroy());
        rmSync(path, { force: true });
      },
    };
  }
}

/** The companion program tells by the name of the link what it stands for. */
function mountsOf(programs: readonly string[], socketPath: string): Mount[] {
  return [
    { path: doorInside, kind: 'read', source: socketPath },
    { path: partsInside, kind: 'folder' },
    ...programs.map((name): Mount => ({
      path: join(partsInside, name),
      kind: 'link',
      source: helperInside,
    })),
  ];
}
