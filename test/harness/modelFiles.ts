/** A tree of files in memory that behaves as the kernel's, as far as the policy fuzzer uses it. */
export type ModelNode = ModelFolder | ModelFile | ModelLink;

export interface ModelFolder {
  readonly kind: 'folder';
  readonly children: Map<string, ModelNode>;
  mode: number;
}

/** Shared by all its names. */
export interface ModelFile {
  readonly kind: 'file';
  content: string;
  mode: number;
}

export interface ModelLink {
  readonly kind: 'link';
  readonly target: string;
}

export const newFolder = (): ModelFolder => ({ kind: 'folder', children: new Map(), mode: 0o755 });

export const newFile = (content: string): ModelFile => ({ kind: 'file', content, mode: 0o644 });

/** The node at a canonical path, the last name not followed. */
export function nodeAt(top: ModelFolder, path: string): ModelNode | undefined {
  let node: ModelNode | undefined = top;
  for (const name of path.split('/').filter((part) => part !== '')) {
    node = node?.kind === 'folder' ? node.children.get(name) : undefined;
  }
  return node;
}

/** Every path below the top with its node, parents first. */
export function* allPaths(folder: ModelFolder, at = ''): Generator<readonly [string, ModelNode]> {
  for (const [name, node] of folder.children) {
    const path = `${at}/${name}`;
    yield [path, node];
    if (node.kind === 'folder') {
      yield* allPaths(node, path);
    }
  }
}
