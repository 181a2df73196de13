import * as z from 'zod';
import { grantableSchema } from '../approvals/grant.ts';
import { policyClauses, sandboxModes } from '../../sandbox/policy/policy.ts';

/** What ties the entries of one command, or of one grant, together: never used twice. */
const id = z.string().min(1);
const root = z.string();
/** The machine that it is about; the one that keeps the log without. */
const environment = z.string().exactOptional();
const command = z.string();

const judgement = z.object({
  class: z.enum(['safe', 'dangerous', 'forced-removal', 'ordinary']),
  /** Of the rules that matched, the strictest; absent when none did. */
  decision: z.enum(['allow', 'prompt', 'forbidden']).optional(),
  /** Where the rule stands that decided: `file:line` or a setting. */
  place: z.string().optional(),
});

const decision = z.object({
  kind: z.literal('decision'),
  id,
  command,
  cwd: z.string(),
  root,
  environment,
  /** Who wants it to run. */
  owner: z.enum(['agent', 'person']),
  /** The session that it is a child command of. */
  session: z.int().nonnegative().optional(),
  /** `policyHash()` of what it runs under. */
  policy: z.string(),
  judgement: judgement.optional(),
  /** `ask` is followed by what was answered, under the same id. */
  decision: z.enum(['run', 'ask', 'refuse']),
  /** `grant`: commands that begin so were granted. The last three: what kept a question from an answer. */
  by: z.enum(['policy', 'rule', 'grant', 'person', 'expired', 'nobody', 'gone']),
  /** Why, in words for a person. */
  reason: z.string().optional(),
  sandbox: z.object({ mode: z.enum(sandboxModes), where: z.enum(['inside', 'outside']) }),
});

/** A window of the editor goes on with what ran before it was loaded; the end follows under the same id. */
const takeover = z.object({
  kind: z.literal('takeover'),
  id,
  command,
  cwd: z.string(),
  root,
  environment,
  session: z.int().nonnegative(),
  policy: z.string(),
});

const end = z.object({
  kind: z.literal('end'),
  id,
  command,
  root,
  environment,
  /** Absent, as the exit code is, when it could not be started: `failure` says why, or why nobody knows how it ended. */
  session: z.int().nonnegative().optional(),
  exitCode: z.int().optional(),
  failure: z.string().optional(),
  /** Its name, when one ended the command. */
  signal: z.string().optional(),
  denials: z.array(
    z.object({
      clause: z.enum(policyClauses).optional(),
      path: z.string().optional(),
      host: z.string().optional(),
    }),
  ),
  /** How many things it left behind that were disarmed. */
  findings: z.int().nonnegative(),
  durationMs: z.number().nonnegative(),
});

const grant = z.object({
  kind: z.literal('grant'),
  id,
  root,
  environment,
  what: grantableSchema,
  lasts: z.enum(['session', 'root']),
  /** Milliseconds since 1970; absent: until it is revoked. */
  until: z.number().optional(),
  /** The command line that it was granted for. */
  because: command,
});

/** A person took a grant back. One whose time is over ends without an entry: its `until` says when. */
const revoke = z.object({ kind: z.literal('revoke'), id, root, environment, what: grantableSchema });

/** What the runtime records. */
export const auditEventSchema = z.discriminatedUnion('kind', [decision, takeover, end, grant, revoke]);
export type AuditEvent = z.infer<typeof auditEventSchema>;

/** The log's own notes: which process writes a file, and how many entries the disk did not take. */
const note = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('start'),
    pid: z.int().positive(),
    /** Tells it from a later process with the same number. */
    started: z.string(),
  }),
  z.object({ kind: z.literal('gap'), lost: z.int().positive() }),
]);
export type AuditNote = z.infer<typeof note>;

/** One line of the log. */
export const auditEntrySchema = z
  .object({ version: z.literal(1), at: z.iso.datetime() })
  .and(z.discriminatedUnion('kind', [auditEventSchema, note]));
export type AuditEntry = z.infer<typeof auditEntrySchema>;
