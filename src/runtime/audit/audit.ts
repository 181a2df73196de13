import type { AuditEvent } from './auditEntry.ts';

/** Where decisions and ends go. There is no silent one: whoever composes a runtime says where its log is. */
export interface Audit {
  /** Takes the entry and returns at once: whatever the disk does, no command waits for it or fails by it. */
  record(event: AuditEvent): void;
}
