import { proxyNames, proxyVariables } from '../../../../sandbox/network/proxyVariables.ts';
import { matchesName } from '../../../../sandbox/environment.ts';

const isProxyName = matchesName(proxyNames);

/** An environment whose programs use the proxy of their command: another one would be out of their reach. */
export function withProxy(
  env: Readonly<Record<string, string>>,
  allowsLocal: boolean,
): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !isProxyName(name))),
    ...proxyVariables,
    // As the reference tells its commands.
    CODEX_NETWORK_PROXY_ACTIVE: '1',
    CODEX_NETWORK_ALLOW_LOCAL_BINDING: allowsLocal ? '1' : '0',
  };
}
