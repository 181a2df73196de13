import type { Address, AddressRange } from '../policy/addresses.ts';
import { isInRange, lastBits } from '../policy/addresses.ts';

/** The IPv4 address to which a translator or a tunnel on the way may carry what is sent to an IPv6 address. */
export function embeddedAddress(address: Address): Address | undefined {
  const found = embeddings.find(({ range }) => isInRange(address, range));
  return found && lastBits(address, found.below);
}

/** With the number of bits that stand behind the embedded address. */
const embeddings: readonly { readonly range: AddressRange; readonly below: bigint }[] = [
  // IPv4-compatible (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056).
  { range: { family: 6, value: 0n, bits: 96 }, below: 0n },
  { range: { family: 6, value: 0xffffn << 48n, bits: 96 }, below: 0n },
  { range: { family: 6, value: 0x64ff9bn << 96n, bits: 96 }, below: 0n },
  { range: { family: 6, value: 0x64ff9b0001n << 80n, bits: 48 }, below: 0n },
  { range: { family: 6, value: 0x2002n << 112n, bits: 16 }, below: 80n },
];
