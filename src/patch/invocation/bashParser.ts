import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Node } from 'web-tree-sitter';

/** Parses a script with the bash grammar and lets `read` look at the tree, which is gone afterwards. */
export type BashParser = <T>(script: string, read: (program: Node) => T) => Promise<T>;

/** A parser that loads the grammar with the first script: most sessions never need it. */
export function createBashParser(): BashParser {
  let loading: ReturnType<typeof loadParser> | undefined;
  return async (script, read) => {
    const parser = await (loading ??= loadParser());
    const tree = parser.parse(script);
    if (tree === null) {
      throw new Error('tree-sitter gave no tree, although it has a grammar and no time limit');
    }
    try {
      return read(tree.rootNode);
    } finally {
      tree.delete();
    }
  };
}

async function loadParser() {
  const { Language, Parser } = await import('web-tree-sitter');
  const [wasmBinary, grammar] = await Promise.all([
    readFile(grammarPath('web-tree-sitter.wasm')),
    readFile(grammarPath('tree-sitter-bash.wasm')),
  ]);
  await Parser.init({ wasmBinary });
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammar));
  return parser;
}

/** The build puts the files beside the bundles; the sources find them there, too. */
function grammarPath(name: string): string {
  const places = [`./grammars/${name}`, `../grammars/${name}`, `../../../dist/grammars/${name}`];
  const paths = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const path = paths.find((candidate) => existsSync(candidate));
  if (path === undefined) {
    throw new Error(
      `${name} is neither at ${paths.join(' nor at ')}: the build or the installation is incomplete.`,
    );
  }
  return path;
}
