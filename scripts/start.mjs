// `npm start`: the editor with this checkout's Cordon and a sample workspace, until Ctrl-C.
//   node scripts/start.mjs [--workspace FOLDER] [--port N] [--ask-trust]
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '../esbuild.mjs';
import { root } from './project.mjs';
import { createSampleWorkspace } from './sampleWorkspace.mjs';
import { ensureRequirements } from './systemRequirements.mjs';
import { editorUrl, ensureServer, linkExtension, startServer } from './vscodeServer.mjs';

const { values } = parseArgs({
  options: {
    workspace: { type: 'string' },
    port: { type: 'string', default: '0' },
    'ask-trust': { type: 'boolean', default: false },
  },
});
if (values.workspace !== undefined && !existsSync(values.workspace)) {
  console.error(`The folder ${values.workspace} does not exist.`);
  process.exit(2);
}
if (!ensureRequirements('editor')) process.exit(1);
console.log('Building …');
await build();
await ensureServer();

const folder = await mkdtemp(join(tmpdir(), 'cordon-start-'));
let server;
let isStopping = false;
// Before the server starts, so that a Ctrl-C in between leaves nothing behind either.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop(0));

try {
  const workspace =
    values.workspace === undefined
      ? await createSampleWorkspace(join(folder, 'sample-project'))
      : resolve(values.workspace);
  const dataDir = join(folder, 'data');
  await mkdir(join(dataDir, 'data', 'User'), { recursive: true });
  await writeFile(
    join(dataDir, 'data', 'User', 'settings.json'),
    JSON.stringify({ 'workbench.startupEditor': 'readme', 'telemetry.telemetryLevel': 'off' }, undefined, 2),
  );
  await linkExtension({ dataDir, folder: root });
  server = await startServer({ dataDir, port: Number(values.port), trust: !values['ask-trust'] });
  if (isStopping) await stop(0);
  console.log(`\nThe editor with Cordon is ready. Open this address in a browser:\n`);
  console.log(`  ${editorUrl(server, { folder: workspace })}\n`);
  console.log(`Workspace: ${workspace}`);
  console.log('Press F1 and type "Cordon". Ctrl-C ends the editor and removes its temporary files.');
} catch (error) {
  console.error(error.message);
  await stop(1);
}

async function stop(code) {
  if (isStopping && code === 0 && server === undefined) return;
  isStopping = true;
  await server?.dispose();
  await rm(folder, { recursive: true, force: true });
  process.exit(code);
}
