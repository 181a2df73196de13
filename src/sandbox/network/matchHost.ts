import type { AddressRange } from '../policy/addresses.ts';
import { alone, isInRange, parseRange } from '../policy/addresses.ts';
import type { HostPattern, HostRules } from '../policy/hostRules.ts';
import { embeddedAddress } from './embeddedAddress.ts';
import type { Host } from './host.ts';
import { parseHost } from './host.ts';

/** The rules for hosts of one policy, made ready for many questions. Throws on a pattern that is none. */
export class HostMatcher {
  readonly #allow: readonly Matcher[];
  readonly #deny: readonly Matcher[];

  constructor({ allow, deny }: HostRules) {
    this.#allow = allow.map(compiled);
    this.#deny = deny.map(compiled);
  }

  isDenied(host: Host, port: number): boolean {
    const embedded = host.address && embeddedAddress(host.address);
    // What is carried to a denied address in the end is denied, too; the other way round nothing is allowed.
    const hosts = embedded === undefined ? [host] : [host, { name: host.name, address: embedded }];
    return this.#deny.some((matcher) => hosts.some((form) => matches(matcher, form, port)));
  }

  /** Whether a rule allows the host, denials aside. */
  isListed(host: Host, port: number): boolean {
    return this.#allow.some((matcher) => matches(matcher, host, port));
  }

  /** Whether a rule allows exactly this host, or a range of addresses that holds it: no wildcard. */
  isNamed(host: Host, port: number): boolean {
    return this.#allow.some(
      (matcher) => (matcher.kind === 'name' || matcher.kind === 'range') && matches(matcher, host, port),
    );
  }
}

type Matcher = { readonly port?: number } & (
  | { readonly kind: 'any' }
  | { readonly kind: 'below'; readonly suffix: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'range'; readonly range: AddressRange }
);

/** Policies come and go, with the same patterns in them. */
function compiled(pattern: HostPattern): Matcher {
  const key = `${pattern.port ?? ''} ${pattern.host}`;
  const known = matchers.get(key);
  if (known !== undefined) {
    return known;
  }
  const matcher = compile(pattern);
  if (matchers.size >= maxMatchers) {
    matchers.clear();
  }
  matchers.set(key, matcher);
  return matcher;
}

const matchers = new Map<string, Matcher>();
const maxMatchers = 1000;

function compile({ host: pattern, port }: HostPattern): Matcher {
  const ports = port === undefined ? {} : { port };
  if (pattern === '*') {
    return { kind: 'any', ...ports };
  }
  const range = parseRange(pattern);
  if (range !== undefined) {
    return { kind: 'range', range, ...ports };
  }
  const isBelow = pattern.startsWith('*.');
  const host = parseHost(isBelow ? pattern.slice(2) : pattern);
  if (host === undefined || (isBelow && host.address !== undefined)) {
    throw new Error(`"${pattern}" is neither a host, "*.host", an address nor a range of addresses`);
  }
  if (host.address !== undefined) {
    return { kind: 'range', range: alone(host.address), ...ports };
  }
  return isBelow
    ? { kind: 'below', suffix: `.${host.name}`, ...ports }
    : { kind: 'name', name: host.name, ...ports };
}

function matches(matcher: Matcher, { name, address }: Host, port: number): boolean {
  if (matcher.port !== undefined && matcher.port !== port) {
    return false;
  }
  switch (matcher.kind) {
    case 'any':
      return address === undefined;
    case 'below':
      return address === undefined && name.endsWith(matcher.suffix);
    case 'name':
      return address === undefined && name === matcher.name;
    case 'range':
      return address !== undefined && isInRange(address, matcher.range);
  }
}
