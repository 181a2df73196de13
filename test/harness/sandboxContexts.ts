import { pathToFileURL } from 'node:url';
import type * as z from 'zod';
import type {
  PermissionEntry,
  SandboxContext,
} from '../../src/runtime/execServer/protocol/sandboxContext.ts';
import { sandboxContext } from '../../src/runtime/execServer/protocol/sandboxContext.ts';

type Access = PermissionEntry['access'];
type Kind = Extract<PermissionEntry['path'], { type: 'special' }>['value']['kind'];

export function at(path: string, access: Access, missing?: 'skip'): PermissionEntry {
  return {
    path: { type: 'path', path: pathToFileURL(path).href },
    access,
    ...(missing && { missing_path_behavior: missing }),
  };
}

export function place(kind: Kind, access: Access, subpath?: string, missing?: 'skip'): PermissionEntry {
  return {
    path: { type: 'special', value: { kind, ...(subpath !== undefined && { subpath }) } },
    access,
    ...(missing && { missing_path_behavior: missing }),
  };
}

export function pattern(text: string, access: Access = 'deny'): PermissionEntry {
  return { path: { type: 'glob_pattern', pattern: text }, access };
}

/** A context that confines to entries, read by the protocol's own words. */
export function contextOf(
  entries: readonly PermissionEntry[],
  { network = 'restricted', ...more }: Partial<z.input<typeof sandboxContext>> & { network?: string } = {},
): SandboxContext {
  return sandboxContext.parse({
    permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network },
    windowsSandboxLevel: 'disabled',
    ...more,
  });
}

/** What Codex sends for workspace-write. */
export const workspaceWrite: readonly PermissionEntry[] = [
  place('root', 'read'),
  place('project_roots', 'write'),
  place('slash_tmp', 'write'),
  place('tmpdir', 'write'),
  ...['.git', '.agents', '.codex', '.aws'].map((name) => place('project_roots', 'read', name, 'skip')),
];

/** What Codex sends for read-only. */
export const readOnly: readonly PermissionEntry[] = [place('root', 'read')];

/** Where those entries count. */
export function inFolder(root: string): Pick<SandboxContext, 'cwd' | 'workspaceRoots'> {
  const { href } = pathToFileURL(root);
  return { cwd: href, workspaceRoots: [href] };
}
