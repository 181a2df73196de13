import * as z from 'zod';
import { cordonExit, cordonStart, cordonStarted } from './cordon.ts';
import { fileUri } from './fileUri.ts';
import { managedNetwork, networkProxy } from './managedNetwork.ts';
import { sandboxContext } from './sandboxContext.ts';

const base64 = z.string();
export const streams = ['stdout', 'stderr', 'pty'] as const;
export const sandboxTypes = [
  'none',
  'linuxSeccomp',
  'macosSeatbelt',
  'windowsRestrictedToken',
  'windowsMxc',
] as const;
export type WireSandboxType = (typeof sandboxTypes)[number];

export const envPolicy = z.object({
  inherit: z.enum(['all', 'core', 'none']),
  ignoreDefaultExcludes: z.boolean(),
  exclude: z.array(z.string()),
  set: z.record(z.string(), z.string()),
  includeOnly: z.array(z.string()),
});

export const startParams = z.object({
  /** Chosen by the client, unique in the session. */
  processId: z.string(),
  argv: z.array(z.string()).min(1, 'argv must not be empty'),
  cwd: fileUri,
  env: z.record(z.string(), z.string()),
  /** A pseudoterminal of 24 rows by 80 columns instead of pipes. */
  tty: z.boolean(),
  /** Without tty: keeps standard input open; it is `/dev/null` otherwise. */
  pipeStdin: z.boolean().default(false),
  /** Replaces argv[0] as the program sees it. */
  arg0: z.string().nullish(),
  /** Absent: the environment is exactly `env`. */
  envPolicy: envPolicy.nullish(),
  /** Absent: unconfined. */
  sandbox: sandboxContext.nullish(),
  enforceManagedNetwork: z.boolean().default(false),
  managedNetwork: managedNetwork.nullish(),
  networkProxy: networkProxy.nullish(),
  metadata: z.object({ threadId: z.string(), toolCallId: z.string() }).nullish(),
  shellSnapshot: z
    .object({ scopeId: z.string(), shell: z.object({ name: z.string(), path: z.string() }) })
    .nullish(),
  /** Only between Cordon and Cordon; ignored elsewhere, so never sent there. */
  cordon: cordonStart.optional(),
});
export const startResult = z.object({
  processId: z.string(),
  sandboxType: z.enum(sandboxTypes).optional(),
  cordon: cordonStarted.optional(),
});
export const spawnErrorKinds = ['spawnNotFound', 'spawnPermissionDenied', 'spawnFailed'] as const;

export const readParams = z.object({
  processId: z.string(),
  afterSeq: z.int().min(0).nullish(),
  maxBytes: z.int().min(0).nullish(),
  waitMs: z.int().min(0).nullish(),
});
export const readResult = z.object({
  chunks: z.array(z.object({ seq: z.int(), stream: z.enum(streams), chunk: base64 })),
  nextSeq: z.int(),
  exited: z.boolean(),
  exitCode: z.int().nullish(),
  closed: z.boolean(),
  failure: z.string().nullish(),
  sandboxDenied: z.boolean().nullish(),
  cordon: cordonExit.optional(),
});

export const writeParams = z.object({
  processId: z.string(),
  chunk: base64,
  /** A repeated one is answered, and not written again. */
  writeId: z.string().min(1, 'writeId must not be empty'),
});
export const writeResult = z.object({
  status: z.enum(['accepted', 'stdinClosed', 'unknownProcess', 'starting']),
});

export const signalParams = z.object({ processId: z.string(), signal: z.literal('interrupt') });
export const terminateParams = z.object({ processId: z.string() });
export const terminateResult = z.object({ running: z.boolean() });

/** One counter per process over all three, from 1, without holes. */
export const outputEvent = z.object({
  processId: z.string(),
  seq: z.int(),
  stream: z.enum(streams),
  chunk: base64,
});
export const exitedEvent = z.object({
  processId: z.string(),
  seq: z.int(),
  exitCode: z.int(),
  /** Older servers leave it out: then one read tells. */
  sandboxDenied: z.boolean().nullish(),
  cordon: cordonExit.optional(),
});
/** Exited, and all output was sent. `cordon` knows more than at the exit: what was left behind, what was refused. */
export const closedEvent = z.object({
  processId: z.string(),
  seq: z.int(),
  cordon: cordonExit.optional(),
});
