import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { formatHostPattern, parseHostPattern } from '../../sandbox/policy/hostRules.ts';
import { locate } from '../../sandbox/policy/files/locate.ts';
import type { PolicyMachine } from '../../sandbox/policy/input.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { isOpenable } from '../../sandbox/policy/widening.ts';
import { parseHost } from '../../sandbox/network/host.ts';

const sandboxPermissions = ['use_default', 'with_additional_permissions', 'require_escalated'] as const;

/** What an agent may ask for with a command: names and shapes of the reference, and single hosts. */
export const permissionFields = {
  sandbox_permissions: z
    .enum(sandboxPermissions)
    .default('use_default')
    .describe(
      'use_default: run in the sandbox. with_additional_permissions: in the sandbox, with what additional_permissions names; the person is asked. require_escalated: without the sandbox; the person is asked, and needs a justification.',
    ),
  additional_permissions: z
    .strictObject({
      network: z
        .strictObject({
          enabled: z.boolean().optional().describe('The whole network. Prefer hosts.'),
          hosts: z.array(z.string()).optional().describe('Hosts, as "example.org" or "example.org:443".'),
        })
        .optional(),
      file_system: z
        .strictObject({
          read: z.array(z.string()).optional().describe('Files and folders to read.'),
          write: z.array(z.string()).optional().describe('Files and folders to write.'),
        })
        .optional(),
    })
    .optional()
    .describe('Only with sandbox_permissions "with_additional_permissions": as little as will do.'),
  justification: z
    .string()
    .optional()
    .describe(
      'One question to the person, such as "May I fetch the packages from the registry?". Required with require_escalated.',
    ),
  prefix_rule: z
    .array(z.string())
    .optional()
    .describe(
      'The first words of the command, to offer that commands which begin so run without a question.',
    ),
};

export type PermissionInput = z.input<z.ZodObject<typeof permissionFields>>;

/** What an agent asks for beyond the policy. */
export interface RequestedPermissions {
  readonly widenings: readonly Widening[];
  readonly justification?: string;
  readonly prefix?: readonly string[];
}

export const noPermissions: RequestedPermissions = { widenings: [] };

/** Reads the request of an agent; paths are relative to the folder of the command. */
export function readPermissions(
  input: PermissionInput,
  {
    cwd,
    machine,
  }: { readonly cwd: string; readonly machine: Pick<PolicyMachine, 'canonicalize' | 'homeDir'> },
): Result<RequestedPermissions, { readonly message: string; readonly hint: string }> {
  const { sandbox_permissions: kind = 'use_default', additional_permissions: more, justification } = input;
  const words = {
    ...(justification !== undefined &&
      justification.trim() !== '' && { justification: justification.trim() }),
    ...(input.prefix_rule !== undefined && input.prefix_rule.length > 0 && { prefix: input.prefix_rule }),
  };
  if (kind !== 'with_additional_permissions' && more !== undefined) {
    return fail({
      message: `additional_permissions is given, but sandbox_permissions is "${kind}".`,
      hint: 'Pass sandbox_permissions "with_additional_permissions", or leave additional_permissions out.',
    });
  }
  switch (kind) {
    case 'use_default':
      return ok({ widenings: [], ...words });
    case 'require_escalated':
      return words.justification === undefined
        ? fail({
            message: 'sandbox_permissions is "require_escalated", but justification is empty.',
            hint: 'Say in justification, as one question to the person, why the sandbox does not do.',
          })
        : ok({ widenings: [{ kind: 'unsandboxed' }], ...words });
    case 'with_additional_permissions': {
      const widenings = readAdditional(more, cwd, machine);
      return widenings.ok ? ok({ widenings: widenings.value, ...words }) : widenings;
    }
  }
}

function readAdditional(
  more: PermissionInput['additional_permissions'],
  cwd: string,
  machine: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>,
): Result<readonly Widening[], { readonly message: string; readonly hint: string }> {
  const widenings: Widening[] = [];
  const { network, file_system: files } = more ?? {};
  for (const access of ['read', 'write'] as const) {
    for (const written of files?.[access] ?? []) {
      const path = canonicalPath(written, cwd, machine);
      if (path === undefined) {
        return fail({
          message: `additional_permissions.file_system.${access} names ${JSON.stringify(written)}, which does not exist.`,
          hint: 'Name an existing file or folder: the folder in which a new file is to be made.',
        });
      }
      if (!isOpenable(path, machine)) {
        return fail({
          message: `additional_permissions.file_system.${access} names ${JSON.stringify(written)}, which would be taken for a glob.`,
          hint: 'Name the folder that it is in.',
        });
      }
      widenings.push({ kind: 'path', path, access });
    }
  }
  for (const host of network?.hosts ?? []) {
    const pattern = parseHostPattern(host);
    if (!pattern.ok) {
      return fail({
        message: `additional_permissions.network.hosts names ${JSON.stringify(host)}, but must be ${pattern.error}.`,
        hint: 'Name one host, as in "example.org:443".',
      });
    }
    if (parseHost(pattern.value.host) === undefined) {
      return fail({
        message: `additional_permissions.network.hosts names ${JSON.stringify(host)}, which stands for many hosts.`,
        hint: 'Name each host, as in "example.org:443", or ask for the whole network with network.enabled.',
      });
    }
    // As it is looked up, in which no other letters look the same.
    widenings.push({ kind: 'host', host: formatHostPattern(pattern.value) });
  }
  if (network?.enabled === true) {
    widenings.push({ kind: 'network' });
  }
  return widenings.length > 0
    ? ok(widenings)
    : fail({
        message: 'sandbox_permissions is "with_additional_permissions", but additional_permissions is empty.',
        hint: 'Name in additional_permissions what the command needs: file_system.read, file_system.write, network.hosts or network.enabled.',
      });
}

function canonicalPath(
  written: string,
  cwd: string,
  machine: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>,
): string | undefined {
  const path =
    written === '~' || written.startsWith('~/') ? `${machine.homeDir}${written.slice(1)}` : written;
  const { path: canonical, exists } = locate(isAbsolute(path) ? path : resolve(cwd, path), machine);
  return exists ? canonical : undefined;
}
