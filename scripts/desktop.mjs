// The suites of test/vscode in a desktop VS Code: downloaded, or the one that CORDON_VSCODE_EXECUTABLE names.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { build } from '../esbuild.mjs';
import { root } from './project.mjs';
import { createSampleWorkspace } from './sampleWorkspace.mjs';

if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
  console.error('Desktop VS Code needs a display. Without one, type: xvfb-run -a npm run test:desktop');
  process.exit(1);
}
await build({ tests: true });
const folder = await mkdtemp(join(tmpdir(), 'cordon-desktop-'));
const executable = process.env.CORDON_VSCODE_EXECUTABLE;
try {
  const workspace = await createSampleWorkspace(join(folder, 'workspace'));
  process.exitCode = await runTests({
    ...(executable ? { vscodeExecutablePath: executable } : {}),
    extensionDevelopmentPath: root,
    extensionTestsPath: join(root, 'dist', 'test', 'vscode', 'index.js'),
    launchArgs: [
      workspace,
      '--disable-workspace-trust',
      '--disable-extensions',
      `--user-data-dir=${join(folder, 'data')}`,
    ],
  });
} catch (error) {
  console.error(`The desktop suites did not pass: ${error.message}`);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
