import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What tells the servers of one build from those of another, from their bundles in `folder` (`dist`). */
export function buildOf(folder: string): string {
  try {
    return createHash('sha256')
      .update(readFileSync(join(folder, 'cli', 'execServer.js')))
      .digest('hex');
  } catch {
    // Run from its sources.
    return 'unbundled';
  }
}
