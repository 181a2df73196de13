import type { Entry, FileSystem } from '../../src/patch/files/fileSystem.ts';
import { FileError } from '../../src/patch/files/fileSystem.ts';
import type { Plan } from '../../src/patch/plan/plan.ts';

/** Absolute path → content, or the target of a link. */
export type Tree = ReadonlyMap<string, Buffer | { readonly target: string }>;

export function treeOf(files: Readonly<Record<string, string | Buffer | { readonly target: string }>>): Tree {
  return new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === 'string' ? Buffer.from(content) : content,
    ]),
  );
}

/** Files for planning alone: whatever wants to write fails. */
export function readOnlyFiles(tree: Tree): FileSystem {
  return {
    async stat(path): Promise<Entry> {
      const content = tree.get(path);
      if (Buffer.isBuffer(content)) {
        return { kind: 'file', mode: 0o644, size: content.length, version: '1' };
      }
      if (content !== undefined) {
        return { kind: 'link', target: content.target };
      }
      const prefix = path === '/' ? '/' : `${path}/`;
      return { kind: [...tree.keys()].some((other) => other.startsWith(prefix)) ? 'folder' : 'missing' };
    },
    async read(path) {
      const content = tree.get(path);
      if (!Buffer.isBuffer(content)) {
        throw new FileError('read', path, 'ENOENT');
      }
      return content;
    },
    async stage({ path }) {
      throw new Error(`planning wrote ${path}`);
    },
  };
}

/** The tree that a plan leads to. */
export function treeAfter(tree: Tree, { changes }: Plan): Map<string, Buffer | { readonly target: string }> {
  const result = new Map(tree);
  for (const change of changes) {
    if (change.kind === 'delete' || change.kind === 'move') {
      result.delete(change.path);
    }
  }
  for (const change of changes) {
    if (change.kind !== 'delete') {
      result.set(change.kind === 'move' ? change.toPath : change.path, change.after);
    }
  }
  return result;
}
