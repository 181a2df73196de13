import { readFileSync, realpathSync, statSync } from 'node:fs';
import { errorCode } from '../paths.ts';

/**
 * The canonical paths of the Unix sockets that processes of this machine are bound on, as far as they still exist.
 * The kernel lists a socket under the name that its owner used: one bound by a relative name cannot be found.
 */
export function hostSockets(list = '/proc/net/unix'): readonly string[] {
  const lines = readFileSync(list, 'latin1').matchAll(/^[0-9a-f]+: (?:\S+ +){6}(\/.*)$/gm);
  const names = new Set([...lines].map(([, name = '']) => name));
  const paths = [...names].map((name) => canonicalSocket(Buffer.from(name, 'latin1').toString()));
  return [...new Set(paths)].filter((path) => path !== undefined);
}

/** Undefined where there is no socket, or none that this user could reach. */
export function canonicalSocket(path: string): string | undefined {
  try {
    const canonical = realpathSync(path);
    return statSync(canonical).isSocket() ? canonical : undefined;
  } catch (error) {
    if (errorCode(error) === undefined) {
      throw error;
    }
    return undefined;
  }
}
