import * as z from 'zod';
import { fileUri } from './fileUri.ts';

const special = z.object({
  kind: z.enum([
    'root',
    'minimal',
    'current_working_directory',
    'project_roots',
    'tmpdir',
    'slash_tmp',
    'unknown',
  ]),
  subpath: z.string().nullish(),
});

const entry = z.object({
  path: z.discriminatedUnion('type', [
    z.object({ type: z.literal('path'), path: fileUri }),
    z.object({ type: z.literal('glob_pattern'), pattern: z.string() }),
    z.object({ type: z.literal('special'), value: special }),
  ]),
  /** `none` is an old spelling of `deny`. */
  access: z.enum(['read', 'write', 'deny', 'none']),
  missing_path_behavior: z.literal('skip').nullish(),
});
export type PermissionEntry = z.infer<typeof entry>;

const network = z.enum(['restricted', 'enabled']);

/** Unlike everything else on the wire in snake_case. */
export const permissions = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('managed'),
    file_system: z.discriminatedUnion('type', [
      z.object({ type: z.literal('unrestricted') }),
      z.object({
        type: z.literal('restricted'),
        entries: z.array(entry),
        glob_scan_max_depth: z.int().min(0).nullish(),
      }),
    ]),
    network,
  }),
  z.object({ type: z.literal('disabled') }),
  z.object({ type: z.literal('external'), network }),
]);
export type Permissions = z.infer<typeof permissions>;

/** How a command or a file call is confined, in words that the executing machine resolves. */
export const sandboxContext = z.object({
  permissions,
  windowsSandboxLevel: z.enum(['disabled', 'restricted-token', 'elevated', 'mxc']),
  /** What relative places mean; the process's own by default. */
  cwd: fileUri.nullish(),
  workspaceRoots: z.array(fileUri).default([]),
  /** Newer home of the two above: wins. */
  policyContext: z.object({ cwd: fileUri.nullish(), workspaceRoots: z.array(fileUri).nullish() }).nullish(),
  userHomeDir: fileUri.nullish(),
  temporaryDirectories: z.array(fileUri).nullish(),
  useLegacyLandlock: z.boolean().default(false),
  windowsSandboxProxySettingsMode: z.enum(['reconcile', 'preserve']).nullish(),
  sandboxOverride: z
    .enum(['noOverride', 'escalatedSandboxWithRestrictions', 'bypassSandboxFirstAttempt'])
    .nullish(),
});
export type SandboxContext = z.infer<typeof sandboxContext>;
