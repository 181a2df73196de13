import { isIP } from 'node:net';

/** An IP address as a number. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** Addresses that have their first bits in common. */
export interface AddressRange extends Address {
  readonly bits: number;
}

const width = { 4: 32, 6: 128 } as const;

/**
 * Undefined for what is no address, or one with a zone. An IPv4 address that is written as IPv6 (`::ffff:127.0.0.1`) is
 * the IPv4 address: that is where it leads.
 */
export function parseAddress(text: string): Address | undefined {
  const address = parseAsWritten(text);
  return address !== undefined && isInRange(address, mapped) ? lastBits(address, 0n) : address;
}

/**
 * `10.1.2.3/8` is the same range as `10.0.0.0/8`; an address alone is a range of one. Brackets around IPv6 are allowed,
 * and what is mapped from IPv4 is IPv4, as with addresses.
 */
export function parseRange(text: string): AddressRange | undefined {
  const [start = '', length, ...rest] = text.replace(/^\[([^[\]]*)\](?=\/|$)/, '$1').split('/');
  const address = parseAsWritten(start);
  if (address === undefined || rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) {
    return undefined;
  }
  const bits = length === undefined ? width[address.family] : Number(length);
  if (bits > width[address.family]) {
    return undefined;
  }
  const range = { ...address, bits, value: firstOf(address, bits) };
  return isWithin(range, mapped) ? { ...lastBits(range, 0n), bits: bits - mapped.bits } : range;
}

/** The shortest usual form; an IPv6 address in brackets, as in a URL, but a range as it is. */
export function formatRange({ family, value, bits }: AddressRange): string {
  const text =
    family === 4
      ? [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
      : new URL(`http://[${groupsText(value)}]`).hostname;
  if (bits === width[family]) {
    return text;
  }
  return `${text.replace(/[[\]]/g, '')}/${bits}`;
}

/** As programs and people write it, without brackets. */
export function formatAddress(address: Address): string {
  return formatRange(alone(address)).replaceAll(/[[\]]/g, '');
}

/** Whether every address of `inner` is in `outer`. */
export function isWithin(inner: AddressRange, outer: AddressRange): boolean {
  return (
    inner.family === outer.family && inner.bits >= outer.bits && firstOf(inner, outer.bits) === outer.value
  );
}

export function isInRange(address: Address, range: AddressRange): boolean {
  return isWithin(alone(address), range);
}

export function isSame(one: Address, other: Address): boolean {
  return one.family === other.family && one.value === other.value;
}

/** A range of this address alone. */
export function alone(address: Address): AddressRange {
  return { ...address, bits: width[address.family] };
}

/** The IPv4 address that is in an IPv6 one, with that many bits behind it. */
export function lastBits({ value }: Address, below: bigint): Address {
  return { family: 4, value: (value >> below) & 0xffff_ffffn };
}

const mapped: AddressRange = { family: 6, value: 0xffffn << 32n, bits: 96 };

function parseAsWritten(text: string): Address | undefined {
  switch (isIP(text)) {
    case 4:
      return { family: 4, value: fromParts(text.split('.').map(Number), 8n) };
    case 6:
      return text.includes('%') ? undefined : { family: 6, value: fromParts(groupsOf(text), 16n) };
    default:
      return undefined;
  }
}

function firstOf({ family, value }: Address, bits: number): bigint {
  const rest = BigInt(width[family] - bits);
  return (value >> rest) << rest;
}

function fromParts(parts: readonly number[], size: bigint): bigint {
  return parts.reduce((value, part) => (value << size) | BigInt(part), 0n);
}

/** The eight groups of an IPv6 address; the last two may be written as an IPv4 address. */
function groupsOf(text: string): number[] {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const [a = 0, b = 0, c = 0, d = 0] = (dotted?.[2] ?? '').split('.').map(Number);
  const plain =
    dotted === null
      ? text
      : `${dotted[1] ?? ''}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const [head = '', tail] = plain.split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16));
  const [front, back] = [parse(head), parse(tail ?? '')];
  return tail === undefined
    ? front
    : [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}

function groupsText(value: bigint): string {
  return Array.from({ length: 8 }, (_, index) =>
    ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  ).join(':');
}
