import { basename } from 'node:path';
import type { FileSystem } from '../../src/patch/files/fileSystem.ts';
import type { Plan, PlannedChange } from '../../src/patch/plan/plan.ts';
import { planFromContents } from '../../src/patch/plan/planFromContents.ts';

/** A plan that gives files new contents; undefined deletes. `files` says what they are before. */
export async function planContents(
  files: FileSystem,
  contents: Readonly<Record<string, string | Buffer | undefined>>,
): Promise<Plan> {
  const wanted = Object.entries(contents).map(async ([path, content]) => {
    const entry = await files.stat(path);
    return {
      path,
      name: basename(path),
      before: entry.kind === 'file' ? { entry, bytes: await files.read(path) } : undefined,
      after: content === undefined ? undefined : Buffer.from(content),
    };
  });
  return planFromContents(await Promise.all(wanted));
}

/** A plan with one rename; without `after`, the content stays. */
export async function planMove(
  files: FileSystem,
  path: string,
  toPath: string,
  after?: string,
): Promise<Plan> {
  const entry = await files.stat(path);
  if (entry.kind !== 'file') {
    throw new Error(`${path} is no file`);
  }
  const before = { entry, bytes: await files.read(path) };
  return planOf([
    {
      kind: 'move',
      path,
      name: basename(path),
      before,
      sourceEntry: entry,
      toPath,
      toName: basename(toPath),
      after: after === undefined ? before.bytes : Buffer.from(after),
    },
  ]);
}

export function planOf(changes: readonly PlannedChange[]): Plan {
  return { changes, summary: { added: [], modified: [], deleted: [] }, notes: [] };
}
