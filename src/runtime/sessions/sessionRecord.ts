import * as z from 'zod';
import { localName } from '../environments/environment.ts';
import { wirePolicy } from '../execServer/protocol/cordon.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';

const path = z.string();
const { files, hidden } = wirePolicy.shape;
/** With paths as they are, unlike on the wire. */
const policyShape = wirePolicy.extend({
  root: path,
  files: z.array(files.element.extend({ path })),
  hidden: z.array(hidden.element.extend({ folder: path })),
  sockets: z.array(path),
});

/** What must be known of a session to go on with it in another program, beside its output. */
const sessionRecord = z.object({
  version: z.literal(1),
  id: z.int(),
  commandLine: z.string(),
  cwd: z.string(),
  root: z.object({ name: z.string(), path: z.string(), environment: z.string().exactOptional() }),
  policy: z.custom<SandboxPolicy>((value) => policyShape.safeParse(value).success),
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

/**
 * The record in a label that an environment keeps; undefined when another version wrote it, or when it speaks of another
 * environment: a machine has no say about what runs elsewhere.
 */
export function readRecord(label: string, environment: string): SessionRecord | undefined {
  try {
    const record = sessionRecord.parse(JSON.parse(label));
    const isOfIt = [record.environment, record.root.environment ?? localName].every(
      (name) => name === environment,
    );
    return isOfIt ? record : undefined;
  } catch {
    return undefined;
  }
}
