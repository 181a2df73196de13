import { basename, dirname, join } from 'node:path';
import type { PolicyMachine } from '../input.ts';

/** A canonical path, as far as there is something: the rest of a missing one is as it was written. */
export interface Location {
  readonly path: string;
  readonly exists: boolean;
}

export function locate(path: string, machine: Pick<PolicyMachine, 'canonicalize'>): Location {
  const real = machine.canonicalize(path);
  if (real !== undefined) {
    return { path: real, exists: true };
  }
  const parent = dirname(path);
  return parent === path
    ? { path, exists: false }
    : { path: join(locate(parent, machine).path, basename(path)), exists: false };
}
