// A complete VS Code server for the tests and for `npm start`: installed once per version into a cache
// outside the checkout, started with one data folder per run.
import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

export const serverVersion = '4.139.1';

const nativeModules = ['@parcel/watcher', '@vscode/spdlog', 'kerberos', 'node-pty'];

/** The folder that holds what Cordon's scripts download, one entry per tool and version. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cordon');
}

/** Where the installed server lies; `node` is the Node it was built for. */
export function serverPaths() {
  const folder = join(cacheFolder(), `code-server-${serverVersion}`);
  const vscode = join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
  return {
    folder,
    vscode,
    main: join(vscode, 'out', 'server-main.js'),
    node: join(folder, 'node_modules', nodePackage(), 'bin', 'node'),
  };
}

export function hasServer() {
  return existsSync(serverPaths().main);
}

/** Installs the server unless it is there already; safe to call from several processes at once. */
export async function ensureServer({ log = console.log } = {}) {
  const paths = serverPaths();
  if (hasServer()) return paths;
  await mkdir(cacheFolder(), { recursive: true });
  await withLock(`${paths.folder}.lock`, log, async () => {
    if (hasServer()) return;
    await removeLeftovers(paths.folder);
    const temporary = `${paths.folder}.partial-${process.pid}`;
    try {
      await install(temporary, log);
      await rename(temporary, paths.folder);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw error;
    }
  });
  return paths;
}

/**
 * Starts the server on a free port and resolves once it listens. `trust: true` trusts every workspace;
 * `false` leaves workspace trust in the hands of the person.
 */
export async function startServer({
  dataDir,
  port = 0,
  trust = true,
  development = false,
  extraArgs = [],
  env = {},
  timeoutMs = 120_000,
}) {
  const paths = await ensureServer();
  await mkdir(dataDir, { recursive: true });
  const args = [
    paths.main,
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--without-connection-token',
    '--accept-server-license-terms',
    '--server-data-dir',
    dataDir,
    '--disable-telemetry',
    // Without it a built VS Code ignores extensionDevelopmentPath in the address.
    ...(development ? ['--enable-smoke-test-driver'] : []),
    ...(trust ? ['--disable-workspace-trust'] : []),
    ...extraArgs,
  ];
  const child = spawn(paths.node, args, {
    detached: true, // its own process group, so that dispose() reaches every descendant
    stdio: ['ignore', 'pipe', 'pipe'],
    env: serverEnvironment(env),
  });
  const tail = [];
  const logFile = createWriteStream(join(dataDir, 'server.log'));
  const exited = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  });
  let stopped = false;
  const dispose = async () => {
    if (stopped) return exited;
    stopped = true;
    await endGroup(child, exited);
    logFile.end();
  };
  const listening = new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(new Error(`The VS Code server did not listen within ${timeoutMs} ms.\n${tail.join('\n')}`)),
      timeoutMs,
    );
    const onLine = (line) => {
      logFile.write(`${line}\n`);
      tail.push(line);
      if (tail.length > 40) tail.shift();
      const match = /Extension host agent listening on (\d+)/.exec(line);
      if (match) {
        clearTimeout(timer);
        resolve(Number(match[1]));
      }
    };
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
    void exited.then((reason) => {
      clearTimeout(timer);
      reject(new Error(`The VS Code server ended before it listened (${reason}).\n${tail.join('\n')}`));
    });
  });
  try {
    const actualPort = await listening;
    return { url: `http://127.0.0.1:${actualPort}`, port: actualPort, pid: child.pid, dataDir, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * Installs an extension by linking its folder, before the server starts. Unlike in development mode, proposed
 * API stays off and notification toasts are shown, which VS Code leaves out under its smoke-test driver.
 */
export async function linkExtension({ dataDir, folder }) {
  const { publisher, name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const extensions = join(dataDir, 'extensions');
  await mkdir(extensions, { recursive: true });
  await symlink(folder, join(extensions, `${publisher}.${name}-${version}`));
}

/** Installs a .vsix into the extensions folder of a data folder, as a person would with `code --install-extension`. */
export async function installExtension({ dataDir, vsix }) {
  const paths = await ensureServer();
  await run(
    paths.node,
    [
      paths.main,
      '--accept-server-license-terms',
      '--server-data-dir',
      dataDir,
      '--install-extension',
      vsix,
      '--force',
    ],
    { env: serverEnvironment() },
  );
}

/** The address that opens `folder` or `workspaceFile`, with extensions in development and perhaps tests. */
export function editorUrl(server, { folder, workspaceFile, extensionPaths = [], testsPath }) {
  const address = new URL(server.url);
  if (folder) address.searchParams.set('folder', folder);
  if (workspaceFile) address.searchParams.set('workspace', workspaceFile);
  const remote = (path) => `vscode-remote://127.0.0.1:${server.port}${path}`;
  const payload = [];
  for (const path of extensionPaths) payload.push(['extensionDevelopmentPath', remote(path)]);
  if (testsPath) payload.push(['extensionTestsPath', remote(testsPath)]);
  if (payload.length > 0) address.searchParams.set('payload', JSON.stringify(payload));
  return address.href;
}

function nodePackage() {
  return `node-linux-${process.arch}`;
}

function serverEnvironment(extra = {}) {
  const env = { ...process.env, ...extra };
  // Left by a VS Code terminal, these would make the server talk to that other editor.
  for (const name of Object.keys(env)) if (/^(VSCODE_|ELECTRON_|npm_)/.test(name)) delete env[name];
  delete env.NODE_OPTIONS;
  return env;
}

async function install(folder, log) {
  if (process.platform !== 'linux') {
    throw new Error(
      'The VS Code server for the suites is built on Linux only; use `npm run test:desktop` elsewhere.',
    );
  }
  log(`Installing VS Code server ${serverVersion} into the cache; once, about three minutes …`);
  const started = Date.now();
  const progress = setInterval(
    () => log(`  still installing (${Math.round((Date.now() - started) / 1000)} s)`),
    30_000,
  );
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ private: true, name: 'cordon-vscode-server' }),
    );
    const flags = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', [...flags, `${nodePackage()}@24`], { cwd: folder, env: installEnvironment() });
    const nodeFolder = join(folder, 'node_modules', nodePackage());
    // The native modules must be built against the headers of the Node that will load them.
    const env = {
      ...installEnvironment(),
      PATH: `${join(nodeFolder, 'bin')}${delimiter}${process.env.PATH}`,
      npm_config_nodedir: nodeFolder,
    };
    await run('npm', [...flags, `code-server@${serverVersion}`], { cwd: folder, env });
    await verify(folder);
  } finally {
    clearInterval(progress);
  }
  log(`VS Code server installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/**
 * Without what an npm above tells its scripts about itself: the install would take the outer Node's version,
 * which code-server's install script reads from the user agent, for its own.
 */
function installEnvironment() {
  const env = { ...process.env };
  const told =
    /^npm_(lifecycle|package|command|execpath|node_execpath)|^npm_config_(user_agent|node_gyp|npm_version|(local_|global_)?prefix)$/;
  for (const name of Object.keys(env)) if (told.test(name)) delete env[name];
  for (const name of ['NODE', 'NODE_OPTIONS', 'INIT_CWD']) delete env[name];
  return env;
}

/** Install scripts may be skipped silently by npm's settings; a server without native modules fails much later. */
async function verify(folder) {
  const vscode = join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
  const node = join(folder, 'node_modules', nodePackage(), 'bin', 'node');
  if (!existsSync(join(vscode, 'node_modules'))) {
    throw new Error(
      'The VS Code server was installed without its dependencies: npm skipped install scripts.',
    );
  }
  for (const name of nativeModules) {
    if (!existsSync(join(vscode, 'node_modules', name))) continue;
    await run(node, ['-e', `require(${JSON.stringify(join(vscode, 'node_modules', name))})`]);
  }
}

async function removeLeftovers(folder) {
  const prefix = `${folder.slice(folder.lastIndexOf('/') + 1)}.partial-`;
  for (const entry of await readdir(cacheFolder())) {
    if (entry.startsWith(prefix)) await rm(join(cacheFolder(), entry), { recursive: true, force: true });
  }
}

/** The lock is a symbolic link whose target is the owner's process id: made atomically, judged stale by that id. */
async function withLock(path, log, action) {
  for (let told = false; ;) {
    try {
      await symlink(String(process.pid), path);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = await lockOwner(path);
    if (owner === undefined || !isAlive(owner)) {
      await rm(path, { force: true });
      continue;
    }
    if (!told) log(`Waiting for process ${owner}, which is installing the VS Code server …`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  try {
    return await action();
  } finally {
    await rm(path, { force: true });
  }
}

async function lockOwner(path) {
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? undefined : Number(target);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    const take = (chunk) => (output = (output + chunk).slice(-8000));
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', reject);
    child.once('close', (code, signal) =>
      code === 0
        ? resolve(output)
        : reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}:\n${output}`)),
    );
  });
}

async function endGroup(child, exited) {
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch {
      // The group is gone, which is what we want.
    }
  };
  if (child.pid === undefined) return;
  signal('SIGTERM');
  const timer = setTimeout(() => signal('SIGKILL'), 3000);
  await exited;
  clearTimeout(timer);
  signal('SIGKILL');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log((await ensureServer()).folder);
}
