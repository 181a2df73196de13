import { parse, TomlError } from 'smol-toml';
import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { ImportProblem } from './importedPolicy.ts';

/** `none` is the older word for `deny`. */
const accessSchema = z.enum(['read', 'write', 'deny', 'none']);
const flag = z.boolean().optional();

const profileSchema = z.looseObject({
  extends: z.string().optional(),
  workspace_roots: z.record(z.string(), z.boolean()).optional(),
  filesystem: z
    .record(z.string(), z.union([accessSchema, z.record(z.string(), accessSchema), z.number(), z.boolean()]))
    .optional(),
  network: z
    .looseObject({
      enabled: flag,
      mode: z.enum(['limited', 'full']).optional(),
      domains: z.record(z.string(), z.enum(['allow', 'deny'])).optional(),
      unix_sockets: z.record(z.string(), z.enum(['allow', 'deny', 'none'])).optional(),
      allow_local_binding: flag,
      allow_upstream_proxy: flag,
      dangerously_allow_all_unix_sockets: flag,
    })
    .optional(),
});

const legacySchema = z.looseObject({
  sandbox_mode: z.enum(['read-only', 'workspace-write', 'danger-full-access']).optional(),
});

const configSchema = legacySchema.extend({
  sandbox_workspace_write: z
    .looseObject({
      writable_roots: z.array(z.string()).optional(),
      network_access: flag,
      exclude_tmpdir_env_var: flag,
      exclude_slash_tmp: flag,
    })
    .optional(),
  default_permissions: z.string().optional(),
  permissions: z.record(z.string(), profileSchema).optional(),
  shell_environment_policy: z
    .looseObject({
      inherit: z.enum(['all', 'core', 'none']).optional(),
      ignore_default_excludes: flag,
      exclude: z.array(z.string()).optional(),
      set: z.record(z.string(), z.string()).optional(),
      include_only: z.array(z.string()).optional(),
      experimental_use_profile: flag,
    })
    .optional(),
  profile: z.string().optional(),
  profiles: z.record(z.string(), legacySchema).optional(),
});

/** What of a Codex `config.toml` is about confinement. */
export type CodexConfig = z.infer<typeof configSchema>;
export type CodexProfile = z.infer<typeof profileSchema>;
export type CodexAccess = z.infer<typeof accessSchema>;

export function parseCodexConfig(text: string): Result<CodexConfig, ImportProblem> {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    const place = error instanceof TomlError ? ` (line ${error.line}, column ${error.column})` : '';
    return fail({ message: `It is not valid TOML${place}.` });
  }
  const parsed = configSchema.safeParse(document);
  if (parsed.success) {
    return ok(parsed.data);
  }
  const [issue] = parsed.error.issues;
  return fail({
    message: `${(issue?.path ?? []).join('.')} is not what Codex expects: ${issue?.message ?? ''}.`,
  });
}

/** The parents that Codex brings along, as far as a file could say them. */
const builtInProfiles: Readonly<Record<string, CodexProfile>> = {
  ':read-only': { filesystem: { ':root': 'read' } },
  ':workspace': { filesystem: { ':root': 'read', ':workspace_roots': { '.': 'write' } } },
};

/** A profile with everything that it inherits: tables are merged, the child's values count. */
export function resolveCodexProfile(name: string, config: CodexConfig): Result<CodexProfile, ImportProblem> {
  const chain: CodexProfile[] = [];
  const seen = new Set<string>();
  for (let current: string | undefined = name; current !== undefined;) {
    const profile: CodexProfile | undefined = builtInProfiles[current] ?? config.permissions?.[current];
    if (profile === undefined) {
      return fail({ message: `The permission profile "${current}" is not defined.` });
    }
    if (seen.has(current)) {
      return fail({ message: `The permission profile "${current}" extends itself.` });
    }
    seen.add(current);
    chain.unshift(profile);
    current = profile.extends;
  }
  return ok(chain.reduce<CodexProfile>((parent, child) => merge(parent, child) as CodexProfile, {}));
}

type Table = Readonly<Record<string, unknown>>;

function merge(parent: Table, child: Table): Table {
  const merged = Object.entries(child).map(([key, value]) => {
    const inherited = parent[key];
    return [key, isTable(inherited) && isTable(value) ? merge(inherited, value) : value];
  });
  return { ...parent, ...(Object.fromEntries(merged) as Table) };
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
