// Everything a contributor needs to know: types, lint and every layer of tests; ends with the counting line.
//   node scripts/test.mjs [checks|unit|runtime|escape|escape2|vscode|package|e2e|interop|FILE …] [--grep PATTERN] [--no-build]
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '../esbuild.mjs';
import { projectNode, root } from './project.mjs';
import { ensureRequirements } from './systemRequirements.mjs';
import { ensureServer } from './vscodeServer.mjs';
import { runInExtensionHost } from './vscodeSuite.mjs';

const minutes = 60_000;
const layers = {
  unit: { timeoutMs: 60_000, limitMs: 5 * minutes },
  runtime: { timeoutMs: 60_000, limitMs: 15 * minutes },
  escape: { timeoutMs: 60_000, limitMs: 10 * minutes },
  /** The core of it once more where bubblewrap makes the mounts, as it does on older kernels. */
  escape2: {
    timeoutMs: 60_000,
    limitMs: 5 * minutes,
    folder: 'escape',
    names: ['files.test.ts', 'hidden.test.ts', 'processes.test.ts', 'plantedPointers.test.ts'],
    environment: { CORDON_MOUNTED_BY: 'bubblewrap' },
  },
  vscode: { needsServer: true, limitMs: 15 * minutes, run: runInExtensionHost },
  package: { needsServer: true, timeoutMs: 5 * minutes, limitMs: 10 * minutes },
  e2e: { needsServer: true, timeoutMs: 5 * minutes, limitMs: 45 * minutes },
  /** Against real peers, which are large to download: only when it is named. */
  interop: { isOptional: true, timeoutMs: 10 * minutes, limitMs: 20 * minutes },
};
/** How long a layer may stay alive after its last test; longer means that something was left running. */
const leakLimitMs = 20_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    grep: { type: 'string', short: 'g' },
    'no-build': { type: 'boolean', default: false },
  },
});
const selection = await select(positionals);
const rows = [];

if (!ensureRequirements('test')) {
  console.log('\n0 passed, 1 failed');
  process.exit(1);
}
if (!values['no-build']) await count('build', () => build({ tests: true }));
if (selection.checks) {
  await count('types', () => command(['node_modules/typescript/bin/tsc', '--noEmit']));
  await count('lint', () => command(['scripts/lint.mjs']));
}
for (const [name, files] of Object.entries(selection.files)) {
  rows.push({ name, ...(await runLayer(name, files).catch(asFailure)) });
}

const passed = sum('passed');
const failed = sum('failed');
console.log();
for (const row of rows) {
  const skipped = row.pending ? `, ${row.pending} skipped` : '';
  console.log(`${row.name.padEnd(8)} ${row.passed} passed, ${row.failed} failed${skipped}`);
  if (row.problem) console.log(`         ${row.problem}`);
}
process.exitCode = failed > 0 ? 1 : 0;
console.log(`\n${passed} passed, ${failed} failed`);

/** Nothing named means everything; files belong to the layer whose folder holds them. */
async function select(names) {
  const files = {};
  let checks = names.length === 0;
  const standard = Object.keys(layers).filter((name) => !layers[name].isOptional);
  for (const name of names.length > 0 ? names : standard) {
    if (name === 'checks') checks = true;
    else if (name in layers) files[name] = await filesOf(name);
    else if (existsSync(name)) {
      const path = relative(root, resolve(name));
      const layer = path.split('/')[1];
      if (!path.startsWith('test/') || !(layer in layers)) exit(`${name} belongs to no layer of tests.`);
      (files[layer] ??= []).push(path);
    } else exit(`"${name}" is neither a file nor one of: checks, ${Object.keys(layers).join(', ')}.`);
  }
  return { checks, files };
}

async function filesOf(layer) {
  const { folder: place = layer, names: chosen } = layers[layer];
  const folder = join(root, 'test', place);
  if (!existsSync(folder)) return [];
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => chosen?.includes(name) ?? name.endsWith('.test.ts'))
    .sort()
    .map((name) => join('test', place, name));
}

/** Counts an action that passes or throws as one test. */
async function count(name, action) {
  console.log(`\n── ${name}`);
  try {
    await action();
    rows.push({ name, passed: 1, failed: 0 });
  } catch (error) {
    if (!error.errors) console.error(error.message);
    rows.push({ name, passed: 0, failed: 1 });
  }
}

async function command(argv) {
  const { code } = await runLimited(argv, { limitMs: 10 * minutes });
  if (code !== 0) throw new Error(`${argv[0]} ended with ${code}`);
}

async function runLayer(name, files) {
  if (files.length === 0) return { passed: 0, failed: 0 };
  console.log(`\n── ${name}`);
  const folder = await mkdtemp(join(tmpdir(), 'cordon-results-'));
  const resultsPath = join(folder, 'results.json');
  const layer = layers[name];
  try {
    if (layer.needsServer) await ensureServer();
    const run = layer.run ?? runMocha;
    const outcome = await run({ files, resultsPath, layer, grep: values.grep, limitMs: layer.limitMs });
    return judge(await readResults(resultsPath), outcome);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function asFailure(error) {
  console.error(error);
  return { passed: 0, failed: 1, problem: 'could not be run' };
}

/** A layer that crashed, hung, or ran nothing counts as one more failure. */
function judge(results, { code, problem: reported }) {
  const { passed, failed, pending } = results;
  const problem =
    reported ??
    (!results.isFinished
      ? `ended before its last test (exit code ${code})`
      : passed + failed + pending === 0 && values.grep === undefined
        ? 'has files, but ran no tests'
        : code !== 0 && failed === 0
          ? `ended with exit code ${code} after its last test`
          : undefined);
  return problem === undefined
    ? { passed, failed, pending }
    : { passed, failed: failed + 1, pending, problem };
}

async function readResults(path) {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text ? JSON.parse(text) : { passed: 0, failed: 0, pending: 0, isFinished: false };
}

function runMocha({ files, resultsPath, layer, grep, limitMs }) {
  const argv = [
    'node_modules/mocha/lib/cli/cli.js',
    '--reporter',
    'scripts/countingReporter.cjs',
    '--timeout',
    String(layer.timeoutMs),
    ...(grep === undefined ? [] : ['--grep', grep]),
    ...files,
  ];
  return runLimited(argv, { limitMs, resultsPath, environment: layer.environment });
}

/** Runs Node on `argv` in a process group of its own, and ends that group when it takes too long. */
function runLimited(argv, { limitMs, resultsPath, environment }) {
  return new Promise((done) => {
    const child = spawn(projectNode(), argv, {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...testEnvironment(resultsPath), ...environment },
    });
    let problem;
    const end = (reason) => {
      problem ??= reason;
      signalGroup(child.pid, 'SIGTERM');
      setTimeout(() => signalGroup(child.pid, 'SIGKILL'), 3000).unref();
    };
    const limit = setTimeout(() => end(`did not end within ${limitMs / minutes} minutes`), limitMs);
    let finishedAt;
    const watch = setInterval(async () => {
      if (resultsPath === undefined || !(await readResults(resultsPath).catch(() => ({}))).isFinished) return;
      finishedAt ??= Date.now();
      if (Date.now() - finishedAt > leakLimitMs) end('left something running after its last test');
    }, 2000);
    const forward = (signal) => {
      signalGroup(child.pid, signal);
      process.exit(130);
    };
    process.on('SIGINT', forward).on('SIGTERM', forward);
    child.once('exit', (code) => {
      clearTimeout(limit);
      clearInterval(watch);
      process.off('SIGINT', forward).off('SIGTERM', forward);
      done({ code, problem });
    });
  });
}

function testEnvironment(resultsPath) {
  const env = { ...process.env, ...(resultsPath === undefined ? {} : { CORDON_TEST_RESULTS: resultsPath }) };
  // `npm test` may have been started with an older Node first on PATH.
  env.PATH = `${join(root, 'node_modules', 'node', 'bin')}:${env.PATH}`;
  return env;
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing is left of the group.
  }
}

function sum(key) {
  return rows.reduce((total, row) => total + row[key], 0);
}

function exit(message) {
  console.error(message);
  process.exit(2);
}
