import type { PatchError } from '../patchError.ts';

/** The reference's text, and below it what helps. */
export function formatPatchError({ message, hint }: PatchError): string {
  return hint === undefined ? message : `${message}\n${hint}`;
}
