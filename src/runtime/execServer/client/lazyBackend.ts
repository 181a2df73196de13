import type { ExecBackend } from '../../exec/execBackend.ts';
import type { RemoteBackendOptions } from './remoteBackend.ts';

/**
 * The same as a `RemoteBackend`, which is loaded with the first need: the schemas of the protocol would cost every start
 * of the editor some milliseconds.
 */
export function lazyBackend(options: RemoteBackendOptions): Required<Pick<ExecBackend, 'start' | 'found'>> {
  let loaded: Promise<Required<Pick<ExecBackend, 'start' | 'found'>>> | undefined;
  const backend = (): NonNullable<typeof loaded> => {
    loaded ??= import('./remoteBackend.ts').then(({ RemoteBackend }) => new RemoteBackend(options));
    return loaded;
  };
  return {
    start: async (params) => (await backend()).start(params),
    found: async () => (await backend()).found(),
  };
}
