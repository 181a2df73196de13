import type { Audit } from '../../src/runtime/audit/audit.ts';
import type { AuditEntry, AuditEvent } from '../../src/runtime/audit/auditEntry.ts';
import type { AuditFilter } from '../../src/runtime/audit/auditFilter.ts';
import type { AuditDamage } from '../../src/runtime/audit/readAudit.ts';
import { readAudit } from '../../src/runtime/audit/readAudit.ts';

type Decision = Extract<AuditEvent, { kind: 'decision' }>;
type End = Extract<AuditEvent, { kind: 'end' }>;

/** An audit that only remembers. */
export class RecordedAudit implements Audit {
  readonly events: AuditEvent[] = [];

  record(event: AuditEvent): void {
    this.events.push(event);
  }
}

export function decisionOn(command: string, fields: Partial<Decision> = {}): Decision {
  return {
    kind: 'decision',
    id: `command-${command.length}`,
    command,
    cwd: '/w',
    root: '/w',
    owner: 'agent',
    policy: 'ab'.repeat(32),
    decision: 'run',
    by: 'policy',
    sandbox: { mode: 'workspace-write', where: 'inside' },
    ...fields,
  };
}

export function endOf(command: string, fields: Partial<End> = {}): End {
  return {
    kind: 'end',
    id: `command-${command.length}`,
    command,
    root: '/w',
    session: 1,
    exitCode: 0,
    denials: [],
    findings: 0,
    durationMs: 12.5,
    ...fields,
  };
}

/** Everything in a log that fits, newest first. */
export async function readAll(
  folder: string,
  filter?: AuditFilter,
): Promise<{ entries: readonly AuditEntry[]; damage: AuditDamage }> {
  const { entries, damage } = readAudit(folder, filter);
  const all: AuditEntry[] = [];
  for await (const entry of entries) {
    all.push(entry);
  }
  return { entries: all, damage };
}

/** The commands of the decisions among entries. */
export function commandsOf(entries: readonly AuditEntry[]): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === 'decision' ? [entry.command] : []));
}
