import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { BundleFile } from './hostWords.ts';

/** What a server on another machine needs of this build. */
export interface ServerBundle {
  /** Version and hash of the contents: the same name is the same files. */
  readonly name: string;
  readonly files: readonly BundleFile[];
  /** All contents in the order of the files, compressed with gzip. */
  pack(): Promise<Buffer>;
}

const parts = ['cli.js', 'cli', 'lazy', 'bin', 'grammars', 'helper', 'node_modules/node-pty'];

/** Ends the search for the kind of the modules, so that no package around the folder decides it. */
const packageFile = {
  path: 'package.json',
  bytes: Buffer.from('{"type":"commonjs"}\n'),
  isExecutable: false,
};

/** Reads `dist`, or what was packaged of it. */
export async function readServerBundle(dist: string, version: string): Promise<ServerBundle> {
  const paths = (await Promise.all(parts.map((part) => filesBelow(join(dist, part))))).flat();
  const contents = [
    packageFile,
    ...(await Promise.all(
      paths.map(async (path) => ({
        path: relative(dist, path).split(sep).join('/'),
        bytes: await readFile(path),
        isExecutable: ((await stat(path)).mode & 0o100) !== 0,
      })),
    )),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  const files = contents.map(({ path, bytes, isExecutable }) => ({
    ...{ path, size: bytes.length, isExecutable },
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }));
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  return {
    name: `${version}-${hash}`,
    files,
    pack: async () => promisify(gzip)(Buffer.concat(contents.map(({ bytes }) => bytes))),
  };
}

async function filesBelow(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) {
    return [path];
  }
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
    .map((entry) => join(entry.parentPath, entry.name));
}
