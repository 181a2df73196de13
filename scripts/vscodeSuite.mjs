// Runs test/vscode inside the extension host of a real editor that a browser has open.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { launchChromium } from './chromium.mjs';
import { root } from './project.mjs';
import { createSampleWorkspace } from './sampleWorkspace.mjs';
import { editorUrl, startServer } from './vscodeServer.mjs';

/** Runs the bundled suites; their counts are written to `resultsPath` from inside the extension host. */
export async function runInExtensionHost({ files, resultsPath, grep, limitMs }) {
  const folder = await mkdtemp(join(tmpdir(), 'cordon-vscode-'));
  let server;
  let browser;
  try {
    const workspace = await createSampleWorkspace(join(folder, 'workspace'));
    server = await startServer({
      dataDir: join(folder, 'data'),
      development: true,
      env: {
        CORDON_TEST_REPORTER: join(root, 'scripts', 'countingReporter.cjs'),
        CORDON_TEST_RESULTS: resultsPath,
        CORDON_TEST_FILES: files.map((file) => basename(file, '.ts')).join(','),
        ...(grep === undefined ? {} : { CORDON_TEST_GREP: grep }),
      },
    });
    browser = await launchChromium();
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const ended = Promise.withResolvers();
    await page.exposeFunction('codeAutomationLog', print);
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
    await browser?.close();
    await server?.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Mocha prints through console.log, with the placeholders of util.format already filled in or not. */
function print(_level, args) {
  const [first, ...rest] = args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg)));
  if (first === undefined) console.log();
  else if (!isNoise(first)) console.log(first, ...rest);
}

function isNoise(line) {
  return /^\[AgentHost\]|DeprecationWarning|ExperimentalWarning|vsda|marketplace|punycode/i.test(line);
}
