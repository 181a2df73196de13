import type { Result } from '../../src/base/result.ts';
import { parsePatch } from '../../src/patch/format/parsePatch.ts';
import type { PatchError } from '../../src/patch/patchError.ts';
import type { PlannedPatch } from '../../src/patch/plan/planPatch.ts';
import { planPatch } from '../../src/patch/plan/planPatch.ts';
import { readOnlyFiles, treeAfter, treeOf } from './memoryFiles.ts';

export type TextFiles = Readonly<Record<string, string | Buffer | { readonly target: string }>>;

/** Plans the lines between the patch's markers against files in memory; names are relative to `/tree`. */
export async function planText(files: TextFiles, body: string): Promise<Result<PlannedPatch, PatchError>> {
  return planWhole(files, `*** Begin Patch\n${body}\n*** End Patch\n`);
}

/** The same for a text with its markers, or what stands for them. */
export async function planWhole(files: TextFiles, text: string): Promise<Result<PlannedPatch, PatchError>> {
  const parsed = parsePatch(text);
  return parsed.ok ? planPatch(parsed.value, { files: readOnlyFiles(inTree(files)), cwd: '/tree' }) : parsed;
}

/** The files after the patch, as text; throws when it does not apply. */
export async function filesAfter(files: TextFiles, body: string): Promise<Record<string, string>> {
  return textsAfter(files, await planText(files, body));
}

export function textsAfter(
  files: TextFiles,
  planned: Result<PlannedPatch, PatchError>,
): Record<string, string> {
  if (!planned.ok) {
    throw new Error(`${planned.error.message}\n${planned.error.hint ?? ''}`);
  }
  const entries = [...treeAfter(inTree(files), planned.value.plan)];
  return Object.fromEntries(
    entries.map(([path, content]) => [
      path.slice('/tree/'.length),
      Buffer.isBuffer(content) ? content.toString('latin1') : `-> ${content.target}`,
    ]),
  );
}

function inTree(files: TextFiles) {
  return treeOf(
    Object.fromEntries(Object.entries(files).map(([name, content]) => [`/tree/${name}`, content])),
  );
}
