import { applyPlan } from '../patch/apply/applyPlan.ts';
import { createDiskFileSystem } from '../patch/files/diskFileSystem.ts';
import { parsePatch } from '../patch/format/parsePatch.ts';
import type { PatchError } from '../patch/patchError.ts';
import { formatPatchError } from '../patch/plan/formatPatchError.ts';
import { formatSummary } from '../patch/plan/formatSummary.ts';
import { planPatch } from '../patch/plan/planPatch.ts';

// The texts and exit codes are the reference's (apply-patch §1): 0 applied, 1 refused or failed, 2 called wrongly.

/**
 * `cordon apply-patch`: applies a patch to the disk, from its argument or from standard input. It confines nothing
 * itself: in a sandbox, that of the session holds.
 */
export async function runApplyPatch(args: readonly string[]): Promise<number> {
  if (args.length > 1) {
    process.stderr.write('Error: apply_patch accepts exactly one argument.\n');
    return 2;
  }
  const text = args[0] ?? decode(await readInput());
  if (text === undefined) {
    process.stderr.write('Error: Failed to read PATCH from stdin.\nstream did not contain valid UTF-8\n');
    return 1;
  }
  if (text === '' && args.length === 0) {
    process.stderr.write("Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n");
    return 2;
  }
  return applyText(text);
}

async function applyText(text: string): Promise<number> {
  const patch = parsePatch(text);
  if (!patch.ok) {
    return refuse(patch.error);
  }
  const files = createDiskFileSystem();
  const planned = await planPatch(patch.value, { files, cwd: process.cwd() });
  if (!planned.ok) {
    return refuse(planned.error);
  }
  const { plan } = planned.value;
  const applied = await applyPlan(plan, files, undefined);
  if (!applied.ok) {
    return refuse(applied.error);
  }
  process.stdout.write(`${formatSummary(plan.summary)}\n`);
  for (const note of plan.notes) {
    process.stderr.write(`Note: ${note}\n`);
  }
  return 0;
}

function refuse(error: PatchError): number {
  process.stderr.write(endLine(formatPatchError(error)));
  return 1;
}

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** A byte order mark stays: it is part of the text. */
function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
