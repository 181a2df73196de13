import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { ok } from '../../src/base/result.ts';
import { LocalEnvironment } from '../../src/runtime/environments/local/localEnvironment.ts';
import type { LocalEnvironmentOptions } from '../../src/runtime/environments/local/localEnvironment.ts';
import { ServerRecords } from '../../src/runtime/environments/local/serverRecords.ts';
import type { ProcessEntry } from './processes.ts';
import { assertEnded, listProcesses } from './processes.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';

const program = join(import.meta.dirname, '../../dist/cli.js');

/** Programs on one workspace, one after the other or at once, with real servers. */
export interface LocalPrograms {
  readonly runtimeFolder: string;
  readonly records: ServerRecords;
  open(changes?: Partial<LocalEnvironmentOptions>): LocalEnvironment;
  /** The servers that run now. */
  servers(): readonly ProcessEntry[];
  /** Rejects when a server does not end. */
  dispose(): Promise<void>;
}

export async function createLocalPrograms(): Promise<LocalPrograms> {
  const folder = await createTemporaryFolder('local');
  const runtimeFolder = join(folder.path, 'run');
  mkdirSync(runtimeFolder, { mode: 0o700 });
  const stored = new Map<string, unknown>();
  const records = new ServerRecords({
    get: (key) => stored.get(key),
    update: async (key, value) => void stored.set(key, value),
  });
  const opened: LocalEnvironment[] = [];
  const servers = (): readonly ProcessEntry[] =>
    listProcesses().filter(({ command }) => command.includes(`unix:${runtimeFolder}/`));
  return {
    runtimeFolder,
    records,
    servers,
    open(changes) {
      const environment = new LocalEnvironment({
        log: silentLog,
        program,
        records,
        runtimeFolder: () => ok(runtimeFolder),
        configuration: () => ({ untrustedFolders: [], trustedPaths: [], upstream: undefined }),
        environment: process.env,
        ...changes,
      });
      opened.push(environment);
      return environment;
    },
    async dispose() {
      opened.forEach((environment) => environment.dispose());
      const left = servers();
      left.forEach(({ pid }) => process.kill(pid, 'SIGTERM'));
      await assertEnded(left);
      await folder.dispose();
    },
  };
}
