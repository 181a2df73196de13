import type { Host } from './host.ts';

/** Where this machine's own way out begins, when it is behind a proxy: never told to a command. */
export interface Upstream {
  /** `http://user:password@host:port`; other schemes are refused. */
  readonly url: string;
  /** Hosts that are reached without it: `host`, `.domain`, `*`. */
  readonly except: readonly string[];
  /** The value of `Proxy-Authorization`, in place of credentials of the URL. */
  readonly authorization?: string;
}

export interface UpstreamProxy {
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`. */
  readonly authorization?: string;
}

/** Undefined when the URL is none of a plain HTTP proxy. */
export function parseUpstream({
  url,
  authorization: given,
}: Pick<Upstream, 'url' | 'authorization'>): UpstreamProxy | undefined {
  const parsed = URL.parse(url.includes('://') ? url : `http://${url}`);
  if (parsed?.protocol !== 'http:' || parsed.hostname === '') {
    return undefined;
  }
  const { username, password } = parsed;
  const credentials = [username, password].map(decodeURIComponent).join(':');
  const basic = username === '' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const authorization = given ?? basic;
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? 80 : Number(parsed.port),
    ...(authorization !== undefined && { authorization }),
  };
}

/** What the usual variables say; undefined when there is no proxy. */
export function upstreamFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Upstream | undefined {
  const names = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY', 'http_proxy', 'HTTP_PROXY'];
  const url = firstOf(names, env);
  return url === undefined ? undefined : { url, except: exceptionsIn(env) };
}

function exceptionsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return (firstOf(['no_proxy', 'NO_PROXY'], env) ?? '').split(/[\s,]+/).filter(Boolean);
}

function firstOf(
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return names.map((name) => env[name]).find((value) => value !== undefined && value !== '');
}

/** VS Code's settings of these names below `http.`, unchecked. */
export interface ProxySettings {
  readonly proxy: unknown;
  readonly noProxy: unknown;
  readonly proxyAuthorization: unknown;
  readonly proxySupport: unknown;
}

/**
 * What an editor's settings say, where they name a proxy: its own list of exceptions, or that of the usual variables
 * when it has none. Otherwise what those variables say. No proxy at all where its support is off. What is no text, or
 * no value of a header, does not count.
 */
export function upstreamFromSettings(
  { proxy, noProxy, proxyAuthorization, proxySupport }: ProxySettings,
  env: Readonly<Record<string, string | undefined>>,
): Upstream | undefined {
  if (proxySupport === 'off') {
    return undefined;
  }
  const upstream = isText(proxy)
    ? { url: proxy.trim(), except: namesIn(noProxy) ?? exceptionsIn(env) }
    : upstreamFromEnvironment(env);
  return upstream !== undefined && isText(proxyAuthorization) && /^[\x20-\x7e]+$/.test(proxyAuthorization)
    ? { ...upstream, authorization: proxyAuthorization }
    : upstream;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Undefined when there are none. */
function namesIn(list: unknown): readonly string[] | undefined {
  const names = Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : [];
  return names.length > 0 ? names : undefined;
}

export function isExcepted({ except }: Upstream, { name }: Host): boolean {
  return except.some((entry) => {
    const domain = entry.toLowerCase().replace(/^\*?\./, '');
    return entry === '*' || name === domain || name.endsWith(`.${domain}`);
  });
}
