import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { createPackage, target } from '../../scripts/package.mjs';
import { openEditor } from '../e2e/harness.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';

const maxBytes = 6 * 1024 * 1024;

/** Every file of the package, by pattern; each pattern must be met by at least one file. */
const expected: readonly RegExp[] = [
  /^\[Content_Types\]\.xml$/,
  /^extension\.vsixmanifest$/,
  /^extension\/package\.json$/,
  /^extension\/readme\.md$/i,
  /^extension\/changelog\.md$/i,
  /^extension\/LICENSE(\.txt)?$/,
  /^extension\/media\/[\w-]+(\/[\w-]+)*\.(png|svg|md)$/,
  /^extension\/dist\/extension\.js$/,
  /^extension\/dist\/cli\.js$/,
  /^extension\/dist\/cli\/(applyPatch|audit|exec|execServer|fileWorker|sandbox|sshHost)\.js$/,
  /^extension\/dist\/lazy\/(screen|telemetrySdk|undici|web-tree-sitter)\.js$/,
  /^extension\/dist\/bin\/(apply_patch|applypatch)$/,
  /^extension\/dist\/grammars\/web-tree-sitter\.wasm$/,
  /^extension\/dist\/grammars\/tree-sitter-bash\.wasm$/,
  new RegExp(`^extension/dist/helper/launch-${target}$`),
  /^extension\/dist\/node_modules\/node-pty\/(package\.json|LICENSE)$/,
  /^extension\/dist\/node_modules\/node-pty\/lib\/(eventEmitter2|index|interfaces|terminal|types|unixTerminal|utils)\.js$/,
  new RegExp(`^extension/dist/node_modules/node-pty/prebuilds/${target}/pty\\.node$`),
];

describe('the packaged extension', () => {
  let folder: TemporaryFolder;
  let vsix: string;

  before(async () => {
    folder = await createTemporaryFolder('package');
    vsix = await createPackage({ folder: folder.path });
  });

  after(() => folder.dispose());

  it('holds what it needs and nothing else', async () => {
    const entries = await readArchive(vsix);
    const names = entries.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => !expected.some((pattern) => pattern.test(name))),
      [],
      'unneeded files',
    );
    assert.deepEqual(
      expected.filter((pattern) => !names.some((name) => pattern.test(name))).map(String),
      [],
      'missing files',
    );
  });

  it('keeps the executable bits of the command, the patch program and the sandbox helper', async () => {
    const entries = await readArchive(vsix);
    const modes = entries
      .filter(({ name }) => /\/(cli\.js|bin\/.*|helper\/.*)$/.test(name))
      .map(({ name, mode }) => [name, mode & 0o111]);
    assert.deepEqual(modes, [
      ['extension/dist/bin/apply_patch', 0o111],
      ['extension/dist/bin/applypatch', 0o111],
      ['extension/dist/cli.js', 0o111],
      [`extension/dist/helper/launch-${target}`, 0o111],
    ]);
  });

  it('is smaller than 6 MB', async () => {
    const { size } = await stat(vsix);
    assert.ok(size < maxBytes, `${size} bytes`);
  });

  it('activates in an editor that it is installed into', async () => {
    const editor = await openEditor({ vsix });
    try {
      await editor.statusBarItem('cordon.cordon').waitFor();
      await editor.runCommand('Cordon: Run Sandboxed…');
      await editor.answer('echo from-the-$((40 + 2))');
      await editor.waitForTerminal('from-the-42');
    } catch (error) {
      await editor.screenshot('failed the packaged extension');
      throw error;
    } finally {
      await editor.dispose();
    }
  });
});

interface ArchiveEntry {
  readonly name: string;
  readonly mode: number;
}

/** Python's zip module is on every machine that runs these tests, and tells the Unix modes. */
async function readArchive(path: string): Promise<readonly ArchiveEntry[]> {
  const program =
    'import json, sys, zipfile; print(json.dumps([dict(name=i.filename, mode=i.external_attr >> 16) ' +
    'for i in zipfile.ZipFile(sys.argv[1]).infolist() if not i.is_dir()]))';
  const { stdout } = await promisify(execFile)('python3', ['-c', program, path]);
  const entries = JSON.parse(stdout) as readonly ArchiveEntry[];
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
}
