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
      const spelled = spellings(pattern);
      if (spelled.length === 0) {
        notes.add(`${verdict} ${pattern}`, unsaid[verdict]);
      }
      for (const host of spelled) {
        hosts.set(host, verdict);
      }
    }
  }
  return Object.fromEntries(hosts);
}

const unsaid = {
  allow: 'Not a domain, "*." before a domain, or an address: these hosts stay closed.',
  deny: 'Not a domain, "*." before a domain, or an address: look that no allowed entry covers these hosts.',
} as const;

const label = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const domain = new RegExp(`^${label}(?:\\.${label})*$`);
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?|\[[0-9a-f:.]+\])$/;
const schemePorts: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443' };

/** How Cordon writes a pattern; empty when it cannot. */
function spellings(pattern: string): readonly string[] {
  const [, scheme, rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/.exec(pattern.trim().toLowerCase()) ?? [];
  const [, host = '', written] = /^(.*?)\.?(?::(\d+))?\/?$/.exec(rest) ?? [];
  const port = written ?? (scheme === undefined ? undefined : schemePorts[scheme]);
  if ((scheme !== undefined && port === undefined) || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) {
    return [];
  }
  const suffix = port === undefined ? '' : `:${port}`;
  const [, stars, parent = ''] = /^(\*\*?)\.(.+)$/.exec(host) ?? [];
  if (stars !== undefined) {
    const names = [...(stars === '**' ? [parent] : []), `*.${parent}`];
    return domain.test(parent) ? names.map((name) => name + suffix) : [];
  }
  return host === '*' || domain.test(host) || address.test(host) ? [host + suffix] : [];
}
