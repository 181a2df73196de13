import * as z from 'zod';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';

/** What must be known of a session to go on with it in another program, beside its output. */
const sessionRecord = z.object({
  version: z.literal(1),
  id: z.int(),
  commandLine: z.string(),
  cwd: z.string(),
  root: z.object({ name: z.string(), path: z.string(), environment: z.string().exactOptional() }),
  policy: z.custom<SandboxPolicy>(looksLikePolicy),
  owner: z.enum(['agent', 'person']),
  /** The environment that runs it. */
  environment: z.string(),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  /** Ties its entries in the audit log together. */
  audit: z.string(),
  /** Of its terminal. */
  size: z.object({ columns: z.int().min(1), rows: z.int().min(1) }).optional(),
  /** Up to where answers have told its output. */
  answered: z.object({
    seq: z.int().min(0),
    /** Bytes of a character whose rest had not arrived: base64. */
    heldBack: z.string(),
  }),
  /** Present when its end was seen, and recorded. */
  ended: z.object({ durationMs: z.number() }).optional(),
  /** Whether a terminal looks at it. */
  isShown: z.boolean(),
  /** Whether its last output was told, so that the tools know it no more. */
  isForgotten: z.boolean(),
});
export type SessionRecord = Readonly<z.infer<typeof sessionRecord>>;

/** The record as a label of its process. */
export function writeRecord(record: SessionRecord): string {
  return JSON.stringify(record);
}

/** The record in a label; undefined when another version wrote it. */
export function readRecord(label: string): SessionRecord | undefined {
  try {
    return sessionRecord.safeParse(JSON.parse(label)).data;
  } catch {
    return undefined;
  }
}

/** Only windows of this person reach the labels of their own server, and policies were checked when they were made. */
function looksLikePolicy(value: unknown): boolean {
  const { root, mode, files } = (value ?? {}) as Partial<Readonly<Record<string, unknown>>>;
  return typeof root === 'string' && typeof mode === 'string' && Array.isArray(files);
}
