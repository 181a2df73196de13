import { createHash } from 'node:crypto';

/** A name for what belongs to a path, the same in every process. */
export function pathHash(path: string): string {
  const known = hashes.get(path);
  if (known !== undefined) {
    return known;
  }
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 32);
  if (hashes.size >= maxHashes) {
    hashes.clear();
  }
  hashes.set(path, hash);
  return hash;
}

/** The same dozen for every command in a root. */
const hashes = new Map<string, string>();
const maxHashes = 1000;
