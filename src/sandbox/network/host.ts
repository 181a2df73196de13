import type { Address } from '../policy/addresses.ts';
import { formatAddress, parseAddress } from '../policy/addresses.ts';

/** Whom a request is for, in the one spelling that rules are compared with. */
export interface Host {
  /** Lower case, in ASCII, without a dot at its end; of addresses the usual notation, without brackets. */
  readonly name: string;
  /** Present when the name is an address: `127.1`, `0x7f000001` and `[::ffff:7f00:1]` are all 127.0.0.1. */
  readonly address?: Address;
}

const longestName = 253;

/** Undefined for what cannot be a host. */
export function parseHost(text: string): Host | undefined {
  const bracketed = /^\[([0-9a-f:.]+)\]$/i.exec(text)?.[1];
  const address = parseAddress(bracketed ?? text);
  if (address !== undefined) {
    return { name: formatAddress(address), address };
  }
  // What would be another part of an address of the web, or is left out or decoded in one, is no part of a host.
  if (bracketed !== undefined || text === '' || /[\u0000- \u007f/?#@\\%:[\]<>^|"`{}*]/.test(text)) {
    return undefined;
  }
  const name = canonicalName(text)?.replace(/\.$/, '');
  if (name === undefined || name.length > longestName || name.split('.').includes('')) {
    return undefined;
  }
  const number = parseAddress(name);
  return number === undefined ? { name } : { name: formatAddress(number), address: number };
}

/** With a port, as it stands in requests and messages. */
export function formatPlace({ name, address }: Host, port: number): string {
  return address?.family === 6 ? `[${name}]:${port}` : `${name}:${port}`;
}

/** Case, international names and odd numbers (`0177.1`) as the web's standard for addresses has them. */
function canonicalName(text: string): string | undefined {
  return URL.parse(`http://${text}/`)?.hostname;
}
