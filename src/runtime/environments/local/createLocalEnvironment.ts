import type { ExecBackend } from '../../exec/execBackend.ts';
import type { ThisMachine } from './inProcessEnvironment.ts';
import { inProcessEnvironment } from './inProcessEnvironment.ts';
import type { LocalEnvironmentOptions } from './localEnvironment.ts';
import { LocalEnvironment } from './localEnvironment.ts';

export interface CreateLocalEnvironmentOptions extends LocalEnvironmentOptions {
  readonly platform: NodeJS.Platform;
  /** Of this build. */
  readonly version: string;
  /** Loads what runs commands as children of this program. */
  readonly inProcess: () => Promise<ExecBackend>;
}

/** This machine: a server runs the commands, except on Windows, where Node has no Unix sockets for it to listen on. */
export function createLocalEnvironment({
  platform,
  version,
  inProcess,
  ...options
}: CreateLocalEnvironmentOptions): ThisMachine {
  return platform === 'win32' ? inProcessEnvironment(inProcess, version) : new LocalEnvironment(options);
}
