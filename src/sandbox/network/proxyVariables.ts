import { helperInside } from '../linux/bubblewrap/machine.ts';

/** Where the proxy is for programs in a sandbox: the companion forwards from there. */
export const proxyPort = 3128;

const address = `127.0.0.1:${proxyPort}`;
const proxyUrl = `http://${address}`;
/** The sandbox's own loopback, which programs reach without the proxy. */
export const directHosts: readonly string[] = ['localhost', '127.0.0.1', '::1'];
const direct = directHosts.join(',');

const javaOptions = [
  ...['http', 'https'].flatMap((scheme) => [
    `-D${scheme}.proxyHost=127.0.0.1`,
    `-D${scheme}.proxyPort=${proxyPort}`,
  ]),
  '-Dhttp.nonProxyHosts=localhost|127.*|[::1]',
].join(' ');

/** A path without spaces: ssh hands the line to a shell. */
const sshCommand = `ssh -o 'ProxyCommand=${helperInside} --connect %h %p'`;

/**
 * What makes common tools use the proxy. Always the same, because every sandbox has its own loopback. `ALL_PROXY` is the HTTP proxy,
 * too: some HTTP libraries do not even start when it speaks of SOCKS and they lack a package for it.
 */
export const proxyVariables: Readonly<Record<string, string>> = {
  CORDON_SANDBOX_NETWORK: 'allow-list',
  ...bothCases({ HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, ALL_PROXY: proxyUrl, NO_PROXY: direct }),
  npm_config_proxy: proxyUrl,
  npm_config_https_proxy: proxyUrl,
  npm_config_noproxy: direct,
  YARN_HTTP_PROXY: proxyUrl,
  YARN_HTTPS_PROXY: proxyUrl,
  PIP_PROXY: proxyUrl,
  CARGO_HTTP_PROXY: proxyUrl,
  GIT_SSH_COMMAND: sshCommand,
  JAVA_TOOL_OPTIONS: javaOptions,
  // Node from 24 on, for its own fetch and http; without it Node knows no proxy.
  NODE_USE_ENV_PROXY: '1',
};

/** Names under which a proxy of the machine, credentials and all, may be in an environment. */
export const proxyNames = ['*_proxy', '*_proxy_*'];

function bothCases(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => [
      [name, value],
      [name.toLowerCase(), value],
    ]),
  );
}
