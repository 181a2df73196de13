import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Node } from 'web-tree-sitter';

/**
 * Parses a script with the bash grammar and lets `read` look at the tree, which is gone afterwards. Gives up, with
 * undefined, on a script that takes too long.
 */
export type BashParser = <T>(script: string, read: (program: Node) => T) => Promise<T | undefined>;

/**
 * A parser that loads the grammar with the first script: most sessions never need it. Scripts of a few kilobytes can
 * be written so that the grammar needs minutes, and whoever waits is the whole editor: hence the limit.
 */
export function createBashParser(limitMs = 1_000): BashParser {
  let loading: ReturnType<typeof loadParser> | undefined;
  return async (script, read) => {
    const parser = await (loading ??= loadParser());
    const deadline = performance.now() + limitMs;
    const tree = parser.parse(script, null, { progressCallback: () => performance.now() > deadline });
    if (tree === null) {
      // It would go on with the script that it gave up on.
      parser.reset();
      return undefined;
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
