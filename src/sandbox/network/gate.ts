import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Address } from '../policy/addresses.ts';
import { formatAddress, isInRange, parseAddress, parseRange } from '../policy/addresses.ts';
import type { HostPattern, HostRules } from '../policy/hostRules.ts';
import { classifyAddress } from './addressClass.ts';
import type { Host } from './host.ts';
import { parseHost } from './host.ts';
import { HostMatcher } from './matchHost.ts';
import type { Refusal } from './refusal.ts';
import { refusalOf, unresolved } from './refusal.ts';

/** All addresses of a name, best first; rejects, or finds none, when it has none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/**
 * What opens addresses of the machine and of the network around it, beside a rule for the address. `address`: nothing
 * else. `named`: for the network around it a rule that spells out the name. `open`: that, or a yes to the question about
 * the host, for the machine's loopback as well. No wildcard in any case, so that nobody's name leads there.
 */
export type LocalAddresses = 'address' | 'named' | 'open';

export interface GateOptions {
  readonly rules: HostRules;
  readonly lookup: Lookup;
  /** Hosts that are asked about although a rule allows them. */
  readonly review?: readonly HostPattern[];
  /** By default `named`. */
  readonly localAddresses?: LocalAddresses | undefined;
  /** A name without an address here may have one for the proxy that everything is sent through. */
  readonly mayBeUnresolved?: ((host: Host) => boolean) | undefined;
}

/** Where a request may go: to exactly these addresses, none of them looked up again. */
export interface Passage {
  /** Empty only when {@link GateOptions.mayBeUnresolved} lets it be. */
  readonly addresses: readonly string[];
  readonly isLocal: boolean;
}

/** Decides which hosts one command reaches, in this order: denials, allows, the person, what the name leads to. */
export class Gate {
  readonly #options: GateOptions;
  readonly #matcher: HostMatcher;
  readonly #review: HostMatcher;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#matcher = new HostMatcher(options.rules);
    // As a denial: what leads to a host to review is one.
    this.#review = new HostMatcher({ allow: [], deny: options.review ?? [] });
  }

  /** `decide` is asked about hosts that no rule knows and those to review; never about denied or unlisted local ones. */
  async admit(
    host: Host,
    port: number,
    decide?: () => Promise<'allow' | 'deny'>,
  ): Promise<Result<Passage, Refusal>> {
    if (this.#matcher.isDenied(host, port)) {
      return fail(refusalOf('deny-list', host, port));
    }
    // Before a name is known to be allowed it is not looked up, either: a look-up carries the name out.
    const isListed = this.#matcher.isListed(host, port);
    if (!isListed && isLocalByName(host) && this.#options.localAddresses !== 'open') {
      return fail(refusalOf('local-address', host, port));
    }
    const isAsked = !isListed || this.#review.isDenied(host, port);
    if (isAsked && (await decide?.()) !== 'allow') {
      return fail(refusalOf('allow-list', host, port));
    }
    const addresses = await this.#addressesOf(host);
    if (addresses.length === 0) {
      return this.#options.mayBeUnresolved?.(host) === true
        ? ok({ addresses: [], isLocal: false })
        : fail(unresolved(host, port));
    }
    const open = addresses.filter((address) => this.#isOpen(host, address, port, isAsked));
    if (open.length === 0) {
      const isDenied = addresses.every((address) => this.#matcher.isDenied(address, port));
      return fail(refusalOf(isDenied ? 'deny-list' : 'local-address', host, port));
    }
    const isLocal = open.some(
      ({ address }) => address !== undefined && classifyAddress(address) !== 'public',
    );
    return ok({ addresses: open.map(({ name }) => name), isLocal });
  }

  /** Whether a TLS handshake with that server name may go to a host that was admitted. */
  admitsServerName(serverName: string, host: Host, port: number): boolean {
    const inner = parseHost(serverName);
    if (inner === undefined || this.#matcher.isDenied(inner, port)) {
      return false;
    }
    // Who is allowed by address is allowed under whatever name.
    return (
      inner.name === host.name ||
      host.address !== undefined ||
      (this.#matcher.isListed(inner, port) && !this.#review.isDenied(inner, port))
    );
  }

  /**
   * A name may belong to anyone, and lead anywhere tomorrow. So no name opens the machine itself: only a rule for the
   * address does. Into the network around it leads a name that a rule spells out.
   */
  #isOpen(host: Host, target: Host, port: number, isAnswered: boolean): boolean {
    if (target.address === undefined || this.#matcher.isDenied(target, port)) {
      return false;
    }
    const { localAddresses = 'named' } = this.#options;
    switch (classifyAddress(target.address)) {
      case 'public':
        return true;
      case 'private':
        return (
          this.#matcher.isNamed(target, port) ||
          (localAddresses !== 'address' && this.#matcher.isNamed(host, port)) ||
          (localAddresses === 'open' && isAnswered)
        );
      case 'machine':
        return (
          this.#matcher.isNamed(target, port) ||
          (isLoopbackName(host) && this.#matcher.isNamed(host, port)) ||
          (localAddresses === 'open' &&
            isLoopback(target.address) &&
            (isAnswered || isLoopbackName(host) || this.#matcher.isNamed(host, port)))
        );
    }
  }

  async #addressesOf(host: Host): Promise<Host[]> {
    if (host.address !== undefined) {
      return [host];
    }
    const found = isLoopbackName(host)
      ? ['127.0.0.1', '::1']
      : await this.#options.lookup(host.name).catch(() => []);
    return found.flatMap((text) => {
      const address = parseAddress(text);
      return address === undefined ? [] : [{ name: formatAddress(address), address }];
    });
  }
}

const loopbacks = ['127.0.0.0/8', '::1'].flatMap((text) => parseRange(text) ?? []);

function isLoopback(address: Address): boolean {
  return loopbacks.some((range) => isInRange(address, range));
}

/** RFC 6761: these names are this machine, whatever a name server says. */
function isLoopbackName({ name }: Host): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

function isLocalByName(host: Host): boolean {
  return isLoopbackName(host) || (host.address !== undefined && classifyAddress(host.address) !== 'public');
}
