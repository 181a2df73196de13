import type { Address, AddressRange } from '../policy/addresses.ts';
import {
  formatRange,
  isWithin,
  parseAddress as parseAsWritten,
  parseRange as parseRangeAsWritten,
} from '../policy/addresses.ts';

export type { Address, AddressRange };

/** An IPv4 address that is written as IPv6 (`::ffff:127.0.0.1`) is the IPv4 address: that is where it leads. */
export function parseAddress(text: string): Address | undefined {
  const address = parseAsWritten(text);
  return address !== undefined && isInRange(address, mapped) ? lastBits(address, 0n) : address;
}

/** The same for ranges; brackets around IPv6 are allowed. */
export function parseRange(text: string): AddressRange | undefined {
  const range = parseRangeAsWritten(text.replaceAll(/[[\]]/g, ''));
  return range !== undefined && isWithin(range, mapped)
    ? { ...lastBits(range, 0n), bits: range.bits - mapped.bits }
    : range;
}

export function isInRange(address: Address, range: AddressRange): boolean {
  return isWithin(alone(address), range);
}

export function isSame(one: Address, other: Address): boolean {
  return one.family === other.family && one.value === other.value;
}

/** As programs and people write it, without brackets. */
export function formatAddress(address: Address): string {
  return formatRange(alone(address)).replaceAll(/[[\]]/g, '');
}

/** The IPv4 address to which a translator or a tunnel on the way may carry what is sent to an IPv6 address. */
export function embeddedAddress(address: Address): Address | undefined {
  const found = embeddings.find(({ range }) => isInRange(address, range));
  return found && lastBits(address, found.below);
}

/** A range of this address alone. */
export function alone(address: Address): AddressRange {
  return { ...address, bits: address.family === 4 ? 32 : 128 };
}

const mapped: AddressRange = { family: 6, value: 0xffffn << 32n, bits: 96 };

/** With the number of bits that stand behind the embedded address. */
const embeddings: readonly { readonly range: AddressRange; readonly below: bigint }[] = [
  // IPv4-compatible (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056).
  { range: { family: 6, value: 0n, bits: 96 }, below: 0n },
  { range: { family: 6, value: 0xffffn << 48n, bits: 96 }, below: 0n },
  { range: { family: 6, value: 0x64ff9bn << 96n, bits: 96 }, below: 0n },
  { range: { family: 6, value: 0x64ff9b0001n << 80n, bits: 48 }, below: 0n },
  { range: { family: 6, value: 0x2002n << 112n, bits: 16 }, below: 80n },
];

function lastBits({ value }: Address, below: bigint): Address {
  return { family: 4, value: (value >> below) & 0xffff_ffffn };
}
