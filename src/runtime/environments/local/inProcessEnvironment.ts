import { Emitter } from '../../../base/event.ts';
import { fail } from '../../../base/result.ts';
import type { ExecBackend } from '../../exec/execBackend.ts';
import type { Environment, EnvironmentState } from '../environment.ts';
import { localName } from '../environment.ts';

/** The environment `local`. */
export interface ThisMachine extends Environment {
  /** Tells whatever runs the commands that the open folders or the proxy are others. */
  configure(): Promise<void>;
}

/**
 * This machine where no server can be had: commands are children of this program, and end with it. Nothing has to be
 * connected, and the backend reads for itself what `configure` would tell.
 */
export function inProcessEnvironment(load: () => Promise<ExecBackend>, version: string): ThisMachine {
  let loaded: Promise<ExecBackend> | undefined;
  const didChangeState = new Emitter<EnvironmentState>();
  return {
    name: localName,
    address: 'this machine',
    state: { kind: 'connected', version },
    onDidChangeState: didChangeState.event,
    backend: { start: async (params) => (await (loaded ??= load())).start(params) },
    connect: async () =>
      fail({
        kind: 'not-installed',
        message: 'Commands of this machine run in the editor itself here, and not in a server.',
        hint: 'Nothing has to be connected: run the command.',
      }),
    prewarm() {},
    configure: async () => {},
    dispose: () => didChangeState.dispose(),
  };
}
