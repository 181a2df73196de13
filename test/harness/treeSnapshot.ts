import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Everything about a folder that a change could leave different: names, bytes, links, modes, owners, times of
 * modification, and, with `identities`, which file it is.
 */
export function treeSnapshot(folder: string, { identities = true } = {}): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    tree[name] = describe(join(folder, name), identities);
  }
  return tree;
}

function describe(path: string, identities: boolean): string {
  const stats = lstatSync(path, { bigint: true });
  const facts = [`mode ${stats.mode.toString(8)}`, `owner ${stats.uid}:${stats.gid}`];
  if (identities) {
    facts.push(`inode ${stats.ino}`, `links ${stats.nlink}`);
  }
  if (stats.isSymbolicLink()) {
    facts.push(`to ${readlinkSync(path)}`);
  }
  if (stats.isFile()) {
    facts.push(`bytes ${readFileSync(path).toString('base64')}`);
    // A file with several hard links comes back by being written.
    if (identities && stats.nlink === 1n) {
      facts.push(`modified ${stats.mtimeNs}`);
    }
  }
  return facts.join(', ');
}
