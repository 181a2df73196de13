import { formatHostPattern, parseHostPattern } from '../policy/hostRules.ts';
import type { PolicySettings } from '../policy/settings.ts';
import type { Notes } from './importedPolicy.ts';

type Hosts = NonNullable<PolicySettings['hosts']>;

/**
 * Host patterns of other programs as Cordon's: `**.example.org` becomes the domain and what is below it, a scheme
 * becomes its port. A pattern that cannot be said exactly is left out and noted.
 */
export function importHosts(
  lists: { readonly allow: readonly string[]; readonly deny: readonly string[] },
  notes: Notes,
): Hosts {
  const hosts = new Map<string, 'allow' | 'deny'>();
  for (const verdict of ['allow', 'deny'] as const) {
    for (const pattern of lists[verdict]) {
      const spelled = spellings(pattern).map(parseHostPattern);
      if (spelled.length === 0 || spelled.some(({ ok }) => !ok)) {
        notes.add(`${verdict} ${pattern}`, unsaid[verdict]);
        continue;
      }
      for (const host of spelled) {
        if (host.ok) {
          hosts.set(formatHostPattern(host.value), verdict);
        }
      }
    }
  }
  return Object.fromEntries(hosts);
}

const unsaid = {
  allow: 'Not a domain, "*." before a domain, or an address: these hosts stay closed.',
  deny: 'Not a domain, "*." before a domain, or an address: look that no allowed entry covers these hosts.',
} as const;

const schemePorts: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443' };

/** How Cordon writes a pattern of other programs, if it is one; empty for a scheme without a known port. */
export function spellings(pattern: string): readonly string[] {
  const [, scheme, rest = ''] = /^(?:([a-z]+):\/\/)?(.*?)\/?$/.exec(pattern.trim().toLowerCase()) ?? [];
  const port = scheme === undefined || /:\d+$/.test(rest) ? undefined : schemePorts[scheme];
  if (scheme !== undefined && port === undefined && !/:\d+$/.test(rest)) {
    return [];
  }
  const host = port === undefined ? rest : `${rest}:${port}`;
  return host.startsWith('**.') ? [host.slice(3), host.slice(1)] : [host];
}
