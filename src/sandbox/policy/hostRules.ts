import { domainToASCII } from 'node:url';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { formatRange, isWithin, parseRange } from './addresses.ts';

/** Hosts that an allow-list lets through. A deny outranks every allow. */
export interface HostRules {
  readonly allow: readonly HostPattern[];
  readonly deny: readonly HostPattern[];
}

/**
 * One entry of the list: a domain (`example.org`), a domain with everything below it (`*.example.org`: without
 * itself), an address or a range of addresses (`10.0.0.0/8`, `[::1]`, `fd00::/8`), or `*`, every name; all lower case.
 */
export interface HostPattern {
  readonly host: string;
  /** Absent: every port. */
  readonly port?: number;
}

export const noHosts: HostRules = { allow: [], deny: [] };

/** Reads what a person wrote; fails with what an entry must be. */
export function parseHostPattern(text: string): Result<HostPattern, string> {
  if (text.includes('://') || /[\s@?#]/.test(text)) {
    return fail('a host alone, without scheme, user or path');
  }
  const split = splitPort(text);
  if (split === undefined) {
    return fail('a host with a port from 1 to 65535, as in "example.org:443" or "[::1]:443"');
  }
  const { name, port } = split;
  const withPort = (host: string): Result<HostPattern, string> =>
    ok(port === undefined ? { host } : { host, port });
  if (name === '*') {
    return withPort('*');
  }
  const range = parseRange(name);
  if (range !== undefined) {
    return withPort(formatRange(range));
  }
  if (name.includes('/')) {
    return fail('a host without path, or a range of addresses such as "10.0.0.0/8"');
  }
  const [isBelow, domain] = name.startsWith('*.') ? [true, name.slice(2)] : [false, name];
  const ascii = asciiDomain(domain);
  return ascii === undefined
    ? fail('a domain ("example.org"), what is below one ("*.example.org"), an address, a range or "*"')
    : withPort(isBelow ? `*.${ascii}` : ascii);
}

export function formatHostPattern({ host, port }: HostPattern): string {
  if (port === undefined) {
    return host;
  }
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

/**
 * The rules that let through what both let through. `*` stands for names only, so that nobody opens the private
 * addresses of another by it.
 */
export function narrowHosts(own: HostRules, by: HostRules): HostRules {
  const allow =
    by.allow.length === 0
      ? own.allow
      : own.allow.flatMap((one) => by.allow.flatMap((other) => common(one, other) ?? []));
  return { allow: unique(allow), deny: unique([...own.deny, ...by.deny]) };
}

/** What both patterns mean: two hosts have nothing in common, or one is part of the other. */
function common(one: HostPattern, other: HostPattern): HostPattern | undefined {
  const host = covers(one.host, other.host)
    ? other.host
    : covers(other.host, one.host)
      ? one.host
      : undefined;
  const ports = new Set([one.port, other.port].filter((port) => port !== undefined));
  if (host === undefined || ports.size > 1) {
    return undefined;
  }
  const [port] = ports;
  return port === undefined ? { host } : { host, port };
}

/** Whether every host of `inner` is one of `outer`. */
function covers(outer: string, inner: string): boolean {
  const [range, innerRange] = [parseRange(outer), parseRange(inner)];
  if (range !== undefined || innerRange !== undefined) {
    return range !== undefined && innerRange !== undefined && isWithin(innerRange, range);
  }
  return outer === '*' || outer === inner || (outer.startsWith('*.') && inner.endsWith(outer.slice(1)));
}

function unique(patterns: readonly HostPattern[]): readonly HostPattern[] {
  return [...new Map(patterns.map((pattern) => [formatHostPattern(pattern), pattern])).values()];
}

/** Undefined for a port that is none. An IPv6 address has colons of its own, so before a port it needs brackets. */
function splitPort(text: string): { readonly name: string; readonly port?: number } | undefined {
  const bracketed = /^\[([^\]]*)\](\/\d+)?(?::(.*))?$/.exec(text);
  const [name, written] =
    bracketed !== null
      ? [`${bracketed[1] ?? ''}${bracketed[2] ?? ''}`, bracketed[3]]
      : text.split(':').length === 2
        ? (text.split(':') as [string, string])
        : [text, undefined];
  if (written === undefined) {
    return { name };
  }
  const port = /^\d{1,5}$/.test(written) ? Number(written) : 0;
  return port >= 1 && port <= 65_535 ? { name, port } : undefined;
}

/** In the form in which names are looked up; undefined for what is no domain. */
function asciiDomain(text: string): string | undefined {
  const ascii = domainToASCII(text.replace(/\.$/, '')).toLowerCase();
  const labels = ascii.split('.');
  const isValid =
    ascii.length <= 253 &&
    labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) &&
    // An address written unusually (`127.1`, `0x7f000001`) is no name.
    !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '');
  return isValid ? ascii : undefined;
}
