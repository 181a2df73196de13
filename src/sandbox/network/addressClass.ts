import { networkInterfaces } from 'node:os';
import type { Address, AddressRange } from '../policy/addresses.ts';
import { isInRange, isSame, parseAddress, parseRange } from '../policy/addresses.ts';
import { embeddedAddress } from './embeddedAddress.ts';

/**
 * `public`: somewhere on the internet. `private`: the network around this machine. `machine`: this machine itself, the
 * services of its cloud (credentials among them), or nothing that one could talk to.
 */
export type AddressClass = 'public' | 'private' | 'machine';

export function classifyAddress(address: Address): AddressClass {
  const forms = [address, embeddedAddress(address)].filter((form) => form !== undefined);
  if (forms.some((form) => machineRanges.some((range) => isInRange(form, range)) || isOwn(form))) {
    return 'machine';
  }
  return forms.some((form) => privateRanges.some((range) => isInRange(form, range))) ? 'private' : 'public';
}

/** The addresses of this machine's interfaces, whatever range they are from. */
function isOwn(address: Address): boolean {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .some((entry) => {
      const own = parseAddress(entry.address);
      return own !== undefined && isSame(own, address);
    });
}

// The registries of special-purpose addresses (RFC 6890 and its updates), and what clouds keep to themselves.
const machineRanges = ranges(
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['::/127', 'fe80::/10', 'fec0::/10', 'ff00::/8', '100::/64', '2001::/23', '2001:db8::/32', '5f00::/16'],
  // Metadata of Alibaba Cloud, Azure, and AWS over IPv6.
  ...['100.100.100.200/32', '168.63.129.16/32', 'fd00:ec2::/32'],
);
const privateRanges = ranges(
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '198.18.0.0/15', 'fc00::/7'],
);

function ranges(...texts: readonly string[]): AddressRange[] {
  return texts.map(parseRange).filter((range) => range !== undefined);
}
