// Runs test/vscode inside the extension host of a real editor that a browser has open.
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { format } from 'node:util';
import { launchChromium } from './chromium.mjs';
import { root } from './project.mjs';
import { createSampleWorkspace } from './sampleWorkspace.mjs';
import { editorUrl, startServer } from './vscodeServer.mjs';

/** Begins the lines that are the suites' own; the editor's go to artifacts/vscode.log only. */
const marker = 'cordon-test:';

/** Runs the bundled suites; their counts are written to `resultsPath` from inside the extension host. */
export async function runInExtensionHost({ files, resultsPath, grep, limitMs }) {
  const folder = await mkdtemp(join(tmpdir(), 'cordon-vscode-'));
  await mkdir(join(root, 'artifacts'), { recursive: true });
  const log = createWriteStream(join(root, 'artifacts', 'vscode.log'));
  let server;
  let browser;
  try {
    const workspace = await createSampleWorkspace(join(folder, 'workspace'));
    server = await startServer({
      dataDir: join(folder, 'data'),
      development: true,
      env: {
        CORDON_TEST_MARKER: marker,
        CORDON_TEST_REPORTER: join(root, 'scripts', 'countingReporter.cjs'),
        CORDON_TEST_RESULTS: resultsPath,
        CORDON_TEST_FILES: files.map((file) => basename(file, '.ts')).join(','),
        ...(grep === undefined ? {} : { CORDON_TEST_GREP: grep }),
      },
    });
    browser = await launchChromium();
    const page = await browser.newPage({
      viewport: { width: 1280, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const ended = Promise.withResolvers();
    await page.exposeFunction('codeAutomationLog', (_level, args) => {
      const line = format(...args);
      log.write(`${line}\n`);
      if (line.startsWith(marker)) console.log(line.slice(marker.length));
    });
    await page.exposeFunction('codeAutomationExit', (code) => ended.resolve({ code }));
    page.once('crash', () => ended.resolve({ code: 1, problem: 'its browser page crashed' }));
    const timer = setTimeout(
      () => ended.resolve({ code: 1, problem: `did not end within ${limitMs / 60_000} minutes` }),
      limitMs,
    );
    const testsPath = join(root, 'dist', 'test', 'vscode', 'index.js');
    await page.goto(editorUrl(server, { folder: workspace, extensionPaths: [root], testsPath }));
    const outcome = await ended.promise;
    clearTimeout(timer);
    return outcome;
  } finally {
    log.end();
    await browser?.close();
    await server?.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}
