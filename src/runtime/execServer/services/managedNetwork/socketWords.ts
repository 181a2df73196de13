import { lstatSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { locate } from '../../../../sandbox/policy/files/locate.ts';
import type { PolicyMachine } from '../../../../sandbox/policy/input.ts';
import { invalidWord } from './invalidWord.ts';

/** Allowed and denied paths of Unix sockets, with the field that has them. */
export interface SocketWords {
  readonly field: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/**
 * The canonical paths of the sockets that are allowed and, by no list, denied. One that is not there opens nothing.
 * Throws an `RpcError` for what cannot be the path of a socket.
 */
export function socketsOf(lists: readonly SocketWords[], machine: PolicyMachine): readonly string[] {
  const denied = lists.flatMap(({ field, deny }) => deny.map((path) => canonical(path, field, machine).path));
  const allowed = lists.flatMap(({ field, allow }) =>
    allow.map((path) => {
      const place = canonical(path, field, machine);
      if (place.exists && !lstatSync(place.path, { throwIfNoEntry: false })?.isSocket()) {
        throw invalidWord(
          field,
          `${path} is no socket`,
          'Name sockets only: files are opened by the sandbox context',
        );
      }
      return place.path;
    }),
  );
  return [...new Set(allowed)].filter((path) => !denied.includes(path));
}

function canonical(path: string, field: string, machine: PolicyMachine): ReturnType<typeof locate> {
  if (!isAbsolute(path) || path.includes('\0')) {
    throw invalidWord(field, `${JSON.stringify(path)} is not an absolute path`, 'Write the whole path');
  }
  return locate(path, machine);
}
