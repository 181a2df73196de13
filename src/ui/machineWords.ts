import type { PatchMachine } from '../patch/patchSite.ts';

interface OfMachine {
  /** Absent for what is of this machine. */
  readonly machine?: PatchMachine | undefined;
}

/** What names and paths of another machine begin with. */
export function onMachine({ machine }: OfMachine): string {
  return machine === undefined ? '' : `${machine.environment}: `;
}

/** The authority of the URIs of documents that show files of another machine; empty for those of this one. */
export function authorityOf({ machine }: OfMachine): string {
  return machine === undefined ? '' : machine.environment.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
}
