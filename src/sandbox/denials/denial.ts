import type { PolicyClause } from '../policy/policy.ts';

/** Something that the sandbox stopped, in words for a person and a model, and with what a grant of it needs. */
export interface Denial {
  /**
   * `known`: the proxy or the kernel refused it, or the output complains of a place that the policy closes and that
   * would be open without it. `likely`: programs say the same for reasons of their own.
   */
  readonly certainty: 'known' | 'likely';
  /** The clause of the policy that stopped it; absent when nobody can tell, or when no clause speaks of it. */
  readonly clause?: PolicyClause;
  /** Canonical, as far as it exists. */
  readonly path?: string;
  /** What was wanted with the path. */
  readonly access?: 'read' | 'write';
  /** As cordon.sandbox.hosts takes it: `name:port`, or only the name when the output tells no port. */
  readonly host?: string;
  /** The path of a Unix socket of the machine. */
  readonly socket?: string;
  /** A system call, by its name: no grant opens it. */
  readonly call?: string;
  /** One sentence: what was stopped by which clause. */
  readonly message: string;
  /** What the user can do about it. */
  readonly hint: string;
}

/** How many denials of one run are told apart. */
export const mostDenials = 20;
