/** Hosts that an allow-list lets through. A deny outranks every allow. */
export interface HostRules {
  readonly allow: readonly HostPattern[];
  readonly deny: readonly HostPattern[];
}

/**
 * One entry of the list: a domain (`example.org`), a domain with everything below it (`*.example.org`: without
 * itself), an address or a range of addresses (`10.0.0.0/8`, `[::1]`), or `*`; all lower case.
 */
export interface HostPattern {
  readonly host: string;
  /** Absent: every port. */
  readonly port?: number;
}

export const noHosts: HostRules = { allow: [], deny: [] };
