import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { ManagedNetwork } from '../../protocol/managedNetwork.ts';
import type { ParamsOf } from '../../protocol/methods.ts';

type Words = Pick<ParamsOf<'process/start'>, 'enforceManagedNetwork' | 'managedNetwork' | 'networkProxy'>;

/**
 * Throws for a start that wants its network managed in the words of the protocol, which this server does not announce:
 * a command must not run with more of the network than its client believes. Words that ask for nothing pass.
 */
export function refuseManagedNetwork({ enforceManagedNetwork, managedNetwork, networkProxy }: Words): void {
  const field = enforceManagedNetwork
    ? 'enforceManagedNetwork'
    : managedNetwork != null && opensSomething(managedNetwork)
      ? 'managedNetwork'
      : networkProxy?.proxy.enabled === true
        ? 'networkProxy'
        : undefined;
  if (field !== undefined) {
    throw new RpcError(
      errorCodes.invalidParams,
      `${field}: this server runs no network proxy for single processes (its capability networkProxyLaunch is false). Use network "restricted" or "enabled" in the sandbox context`,
    );
  }
}

function opensSomething(network: ManagedNetwork): boolean {
  return Object.values(network).some((value) => (Array.isArray(value) ? value.length > 0 : value));
}
