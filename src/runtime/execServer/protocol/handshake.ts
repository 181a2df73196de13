import * as z from 'zod';

export const initializeParams = z.object({
  clientName: z.string(),
  resumeSessionId: z.string().nullish(),
});

/** What Cordon's own server tells about itself, beside what the protocol has. Other clients ignore it. */
export const cordonInfo = z.object({
  /** Of the methods and members in {@link ./cordon.ts}; another number is another language. */
  version: z.literal(1),
  /** Of the bundle that runs there. */
  build: z.string(),
  pid: z.int(),
});

export const environmentInfo = z.object({
  shell: z.object({ name: z.string(), path: z.string() }),
  executorVersion: z.string().nullish(),
  providerId: z.string().nullish(),
  cwd: z.string().nullish(),
  userHomeDir: z.string().nullish(),
  platformOs: z.string().nullish(),
  prependPathDirs: z.array(z.string()).nullish(),
  temporaryDirectories: z.array(z.string()).nullish(),
  tempDir: z.string().nullish(),
  capabilities: z.record(z.string(), z.boolean()).nullish(),
  /** Absent on the servers of others. */
  cordon: cordonInfo.optional().catch(undefined),
});
export type EnvironmentInfo = z.infer<typeof environmentInfo>;

export const initializeResult = z.object({
  sessionId: z.string(),
  environmentInfo: environmentInfo.nullish(),
});

export const environmentStatus = z.object({ status: z.string() });
