import { isIPv4, isIPv6 } from 'node:net';

/** 4 bytes, or 16. An IPv4 address that is written as IPv6 (`::ffff:127.0.0.1`) is the IPv4 address. */
export type Address = readonly number[];

/** All addresses that begin with the same bits. */
export interface AddressRange {
  readonly start: Address;
  readonly bits: number;
}

/** Takes the usual notations only; undefined for anything else, zones (`fe80::1%eth0`) included. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) {
    return text.split('.').map(Number);
  }
  if (!isIPv6(text) || text.includes('%')) {
    return undefined;
  }
  const bytes = expand(new URL(`http://[${text}]`).hostname.slice(1, -1));
  return isInRange(bytes, mapped) ? bytes.slice(12) : bytes;
}

/** `10.0.0.0/8`, `fd00::/8`, or an address alone; brackets around IPv6 are allowed. */
export function parseRange(text: string): AddressRange | undefined {
  const [, host = '', length] = /^\[?([^\][/]+)\]?(?:\/(\d{1,3}))?\]?$/.exec(text) ?? [];
  const start = parseAddress(host);
  if (start === undefined) {
    return undefined;
  }
  const bits = length === undefined ? start.length * 8 : Number(length);
  return bits <= start.length * 8 ? { start, bits } : undefined;
}

export function isInRange(address: Address, { start, bits }: AddressRange): boolean {
  if (address.length !== start.length) {
    return false;
  }
  const whole = bits >> 3;
  const rest = 8 - (bits & 7);
  return (
    start.slice(0, whole).every((byte, index) => byte === address[index]) &&
    (rest === 8 || (start[whole] ?? 0) >> rest === (address[whole] ?? 0) >> rest)
  );
}

/** As programs and people write it. */
export function formatAddress(address: Address): string {
  if (address.length === 4) {
    return address.join('.');
  }
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((address[2 * index] ?? 0) << 8) | (address[2 * index + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** The IPv4 address to which a translator or a tunnel on the way may carry what is sent to an IPv6 address. */
export function embeddedAddress(address: Address): Address | undefined {
  const found = embeddings.find(({ range }) => isInRange(address, range));
  return found && address.slice(found.at, found.at + 4);
}

const mapped: AddressRange = { start: expand('::ffff:0:0'), bits: 96 };

const embeddings: readonly { readonly range: AddressRange; readonly at: number }[] = [
  // IPv4-compatible (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056).
  { range: { start: expand('::'), bits: 96 }, at: 12 },
  { range: { start: expand('::ffff:0:0:0'), bits: 96 }, at: 12 },
  { range: { start: expand('64:ff9b::'), bits: 96 }, at: 12 },
  { range: { start: expand('64:ff9b:1::'), bits: 48 }, at: 12 },
  { range: { start: expand('2002::'), bits: 16 }, at: 2 },
];

/** Of an IPv6 address without a dotted part. */
function expand(text: string): Address {
  const [head = '', tail] = text.split('::');
  const before = head.split(':').filter(Boolean);
  const after = (tail ?? '').split(':').filter(Boolean);
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
