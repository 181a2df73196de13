import { readFileSync, statSync } from 'node:fs';

/** The content of a small regular file, links followed; undefined for anything else, and what may not be read. */
export function readText(path: string, maxBytes: number): string | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(path, 'utf8') : undefined;
  } catch {
    // Missing, or closed to this user: git, as the same user, reads nothing from it either.
    return undefined;
  }
}
