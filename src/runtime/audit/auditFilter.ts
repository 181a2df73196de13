import type { AuditEntry } from './auditEntry.ts';

/** What entries can be looked for by. `denied`: commands of which the sandbox stopped something. */
export const auditOutcomes = ['allowed', 'asked', 'refused', 'denied'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

export interface AuditFilter {
  /** Canonical path. */
  readonly root?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  /** A part of the command line, in any case. */
  readonly command?: string | undefined;
  /** Milliseconds since 1970, both included. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Undefined for entries that are neither decisions about a command nor about a denial. */
export function outcomeOf(entry: AuditEntry): AuditOutcome | undefined {
  switch (entry.kind) {
    case 'decision':
      return ({ run: 'allowed', ask: 'asked', refuse: 'refused' } as const)[entry.decision];
    case 'end':
      return entry.denials.length > 0 ? 'denied' : undefined;
    case 'takeover':
    case 'grant':
    case 'revoke':
    case 'start':
    case 'gap':
      return undefined;
  }
}

/** Whether an entry is all that a filter asks for; what a filter leaves out may be anything. */
export function matchesFilter(entry: AuditEntry, filter: AuditFilter): boolean {
  const at = Date.parse(entry.at);
  const root = 'root' in entry ? entry.root : undefined;
  return (
    (filter.root === undefined || root === filter.root) &&
    (filter.outcome === undefined || outcomeOf(entry) === filter.outcome) &&
    (filter.command === undefined ||
      commandOf(entry)?.toLowerCase().includes(filter.command.toLowerCase()) === true) &&
    at >= (filter.since ?? -Infinity) &&
    at <= (filter.until ?? Infinity)
  );
}

function commandOf(entry: AuditEntry): string | undefined {
  switch (entry.kind) {
    case 'decision':
    case 'takeover':
    case 'end':
      return entry.command;
    case 'grant':
      return entry.because;
    case 'revoke':
    case 'start':
    case 'gap':
      return undefined;
  }
}
