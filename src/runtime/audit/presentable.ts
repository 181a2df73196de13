import type { AuditEvent } from './auditEntry.ts';
import type { Redactor } from './redact.ts';

/** Of a command line, a path, a reason. */
const maxTextLength = 16 * 1024;
/** Of denials, words. */
const maxItems = 64;

/** An event without secrets, and short enough for a line of the log. */
export function presentable(event: AuditEvent, redact: Redactor): AuditEvent {
  return presentableValue(event, redact) as AuditEvent;
}

function presentableValue(value: unknown, redact: Redactor): unknown {
  if (typeof value === 'string') {
    return shorten(redact(value));
  }
  if (Array.isArray(value)) {
    return value.slice(0, maxItems).map((item) => presentableValue(item, redact));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, presentableValue(field, redact)]),
    );
  }
  return value;
}

function shorten(text: string): string {
  const more = text.length - maxTextLength;
  return more > 0 ? `${text.slice(0, maxTextLength)} [… ${more} more characters]` : text;
}
