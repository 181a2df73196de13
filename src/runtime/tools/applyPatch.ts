import * as z from 'zod';
import { parsePatch } from '../../patch/format/parsePatch.ts';
import type { Orchestrator } from '../orchestrator.ts';
import type { PatchRunner } from '../patches/patchRunner.ts';
import type { Tool } from './tool.ts';
import { toolError } from './tool.ts';

const maxPatchBytes = 16 * 1024 * 1024;

export const applyPatchSchema = z.object({
  input: z
    .string()
    .min(1, 'must not be empty: pass the text from "*** Begin Patch" to "*** End Patch"')
    .refine(
      (input) => Buffer.byteLength(input) <= maxPatchBytes,
      'is longer than 16 MiB: split it into several patches',
    )
    .describe('The whole patch, from the line "*** Begin Patch" to the line "*** End Patch".'),
  workdir: z
    .string()
    .optional()
    .describe(
      'Folder that the names in the patch are relative to: the name of an open workspace folder, an absolute path, or a path relative to the active one. Defaults to the active workspace folder.',
    ),
});
export type ApplyPatchInput = z.infer<typeof applyPatchSchema>;

/** Changes files by a patch: everything in it or nothing. */
export function createApplyPatchTool(
  orchestrator: Orchestrator,
  patches: PatchRunner,
): Tool<ApplyPatchInput> {
  return {
    name: 'apply_patch',
    inputSchema: applyPatchSchema,
    invocationMessage: ({ input }) => `Patching ${namesIn(input)}`,
    // What needs a person's yes is reviewed as a diff, not asked for on a card.
    confirmation: async () => undefined,

    async invoke({ input, workdir }, { signal }) {
      const place = await orchestrator.locate(workdir);
      return place.ok
        ? patches.run({ text: input, place: place.value, signal })
        : toolError('apply_patch', place.error);
    },
  };
}

function namesIn(text: string): string {
  const patch = parsePatch(text);
  const names = patch.ok ? [...new Set(patch.value.sections.map(({ path }) => path))] : [];
  if (names.length === 0) {
    return 'files';
  }
  return names.length > 5 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more` : names.join(', ');
}
