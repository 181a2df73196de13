import type { Host } from './host.ts';

/** Where this machine's own way out begins, when it is behind a proxy: never told to a command. */
export interface Upstream {
  /** `http://user:password@host:port`; other schemes are refused. */
  readonly url: string;
  /** Hosts that are reached without it: `host`, `.domain`, `*`. */
  readonly except: readonly string[];
}

export interface UpstreamProxy {
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`. */
  readonly authorization?: string;
}

/** Undefined when the URL is none of a plain HTTP proxy. */
export function parseUpstream(url: string): UpstreamProxy | undefined {
  const parsed = URL.parse(url.includes('://') ? url : `http://${url}`);
  if (parsed?.protocol !== 'http:' || parsed.hostname === '') {
    return undefined;
  }
  const { username, password } = parsed;
  const credentials = [username, password].map(decodeURIComponent).join(':');
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? 80 : Number(parsed.port),
    ...(username !== '' && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
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

/**
 * What an editor's settings say, where they name a proxy: its own list of exceptions, or that of the usual variables
 * when it has none. Otherwise what those variables say. Nothing is checked: what is no text does not count.
 */
export function upstreamFromSettings(
  { proxy, noProxy }: { readonly proxy: unknown; readonly noProxy: unknown },
  env: Readonly<Record<string, string | undefined>>,
): Upstream | undefined {
  if (typeof proxy !== 'string' || proxy.trim() === '') {
    return upstreamFromEnvironment(env);
  }
  const own = Array.isArray(noProxy) ? noProxy.filter((entry) => typeof entry === 'string') : [];
  return { url: proxy.trim(), except: own.length > 0 ? own : exceptionsIn(env) };
}

export function isExcepted({ except }: Upstream, { name }: Host): boolean {
  return except.some((entry) => {
    const domain = entry.toLowerCase().replace(/^\*?\./, '');
    return entry === '*' || name === domain || name.endsWith(`.${domain}`);
  });
}
