import type { SpawnError, StartError } from '../../../exec/execBackend.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { spawnErrorKinds } from '../../protocol/processes.ts';

type WireKind = (typeof spawnErrorKinds)[number];

const kinds: Readonly<Record<SpawnError['kind'], WireKind>> = {
  'spawn-not-found': 'spawnNotFound',
  'spawn-permission-denied': 'spawnPermissionDenied',
  'spawn-failed': 'spawnFailed',
};

/** How a start that failed is told: the kind for any client, and all that is known for Cordon's own. */
export function startFailure(error: StartError): RpcError {
  const kind = error.kind in kinds ? kinds[error.kind as SpawnError['kind']] : 'spawnFailed';
  return new RpcError(errorCodes.internal, `${error.message} ${error.hint}`, { kind, cordon: error });
}
