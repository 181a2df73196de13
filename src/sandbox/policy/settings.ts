import * as z from 'zod';
import { accesses } from './fileRules.ts';
import { cacheModes, gitModes, networkModes, sandboxModes, tmpModes } from './policy.ts';

/** A number of that unit; null lifts a limit that would hold otherwise. */
const limit = z.int().positive().nullable();

/** What settings, profiles and grants may say about a policy; every field may be absent. */
export const policySettingsSchema = z
  .strictObject({
    mode: z.enum(sandboxModes),
    /** Path, place (`:home`) or glob (`none` only) → access. */
    files: z.record(z.string(), z.enum(accesses)),
    writableRoots: z.array(z.string()),
    git: z.enum(gitModes),
    caches: z.enum(cacheModes),
    tmp: z.enum(tmpModes),
    network: z.enum(networkModes),
    /** `host`, `*.host`, `host:port`, `address/bits` → whether the allow-list lets it through. */
    hosts: z.record(z.string(), z.enum(['allow', 'deny'])),
    /** Absolute paths of Unix sockets. */
    sockets: z.array(z.string()),
    environment: z
      .strictObject({
        inherit: z.enum(['all', 'core', 'none']),
        ignoreDefaultExcludes: z.boolean(),
        exclude: z.array(z.string()),
        set: z.record(z.string(), z.string()),
        includeOnly: z.array(z.string()),
      })
      .partial(),
    limits: z
      .strictObject({ processes: limit, memoryMiB: limit, fileSizeMiB: limit, cpuSeconds: limit })
      .partial(),
  })
  .partial();

/** The settings `cordon.sandbox.*` of one owner, as they are written. */
export type PolicySettings = z.infer<typeof policySettingsSchema>;
