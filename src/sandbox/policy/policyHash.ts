import { createHash } from 'node:crypto';
import type { SandboxPolicy } from './policy.ts';

/** The same for the same policy, whatever the order of its fields: 64 hexadecimal digits, for logs and caches. */
export function policyHash(policy: SandboxPolicy): string {
  return createHash('sha256').update(JSON.stringify(policy, sortedFields)).digest('hex');
}

function sortedFields(_name: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
}
