import type * as NodePty from 'node-pty';

/**
 * Loads node-pty's native part on first use, so that its absence harms nothing but terminals.
 * Only `spawn` may be used: destroying what `open` returns signals every process of the user (pid -1).
 */
export async function loadNodePty(): Promise<Pick<typeof NodePty, 'spawn'>> {
  return import('node-pty');
}
