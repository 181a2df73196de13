import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** What the person could do without a sandbox: denials are only what would not have failed for them, too. */
export interface Person {
  /** Of a missing path: whether they could make it, as far as the next folder above tells. */
  may(access: 'read' | 'write', path: string): boolean;
  /** Root in the sandbox has no capability: true where only those open the path to them. */
  needsCapability(path: string): boolean;
  isSocket(path: string): boolean;
}

/** The user of this process, on this machine. */
export const thisPerson: Person = {
  may(access, path) {
    const place = statSync(path, { throwIfNoEntry: false }) === undefined ? dirname(path) : path;
    if (place !== path && place !== '/' && statSync(place, { throwIfNoEntry: false }) === undefined) {
      return thisPerson.may(access, place);
    }
    try {
      accessSync(place, access === 'read' ? constants.R_OK : constants.W_OK);
      return true;
    } catch {
      // Permissions, or a file system that is read-only for everybody.
      return false;
    }
  },
  needsCapability(path) {
    const found = process.getuid?.() === 0 ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (found === undefined) {
      return false;
    }
    const isOwnGroup =
      found.gid === process.getegid?.() || process.getgroups?.().includes(found.gid) === true;
    const shift = found.uid === 0 ? 6 : isOwnGroup ? 3 : 0;
    return ((found.mode >> shift) & 0o6) !== 0o6;
  },
  isSocket: (path) => statSync(path, { throwIfNoEntry: false })?.isSocket() === true,
};

/** Of whom nothing is known, on a machine that cannot be looked at: what failed for them is held to be the sandbox's doing. */
export const anyPerson: Person = {
  may: () => true,
  needsCapability: () => false,
  isSocket: () => false,
};
