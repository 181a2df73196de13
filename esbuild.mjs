// Builds what runs: dist/extension.js, dist/cli.js, dist/cli/, dist/lazy/, dist/bin/, dist/grammars/, dist/helper/ and
// dist/node_modules/node-pty; with --tests also dist/test/vscode/. Options: --production, --watch, --tests, --outdir=DIR.
import * as esbuild from 'esbuild';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(fileURLToPath(import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const helperFolder = join(root, 'src', 'sandbox', 'linux', 'helper');

/** Builds everything once; with `watch`, keeps building the bundles and resolves to a function that stops. */
export async function build({
  production = false,
  tests = false,
  watch = false,
  outdir = join(root, 'dist'),
} = {}) {
  await mkdir(outdir, { recursive: true });
  const lazyFolder = join(outdir, 'lazy');
  const bundles = [
    {
      ...bundle({ production, outdir, watch, lazyFolder }),
      entryPoints: [join(root, 'src', 'extension.ts')],
    },
    {
      ...bundle({ production, outdir, watch, lazyFolder, shebang: true, plugins: [separateCommands] }),
      entryPoints: [join(root, 'src', 'cli', 'main.ts')],
      entryNames: 'cli',
    },
    {
      ...bundle({ production, outdir: join(outdir, 'cli'), watch, lazyFolder }),
      entryPoints: commands.map((name) => join(root, 'src', 'cli', `${name}.ts`)),
    },
    {
      // Sent over ssh with every connection, and run from memory: small, and without a file that it could be beside.
      ...bundle({ production: true, outdir: join(outdir, 'cli'), watch }),
      ...{ banner: {}, define: {} },
      entryPoints: [join(root, 'src', 'cli', 'sshHost.ts')],
    },
    { ...bundle({ production, outdir: lazyFolder, watch }), entryPoints: lazyParts },
  ];
  if (tests) bundles.push(await testBundle({ outdir, watch, lazyFolder }));
  await Promise.all([
    copyNodePty(outdir),
    copyGrammars(outdir),
    copyPatchProgram(outdir),
    compileHelper(outdir),
  ]);
  const contexts = [];
  for (const options of bundles) {
    const context = await esbuild.context(options);
    if (watch) await context.watch();
    else await context.rebuild().finally(() => context.dispose());
    contexts.push(context);
  }
  if (!watch) await chmod(join(outdir, 'cli.js'), 0o755);
  return () => Promise.all(contexts.map((context) => context.dispose()));
}

function bundle({ production = false, outdir, watch = false, lazyFolder, shebang = false, plugins = [] }) {
  return {
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    outdir,
    external: ['vscode', 'node-pty'],
    // Its main file requires the others in a way that no bundler sees.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    minify: production,
    sourcemap: production ? false : 'linked',
    legalComments: 'none',
    logLevel: watch ? 'silent' : 'warning',
    // CommonJS has no import.meta; the sources, which also run unbundled, may ask where they are.
    define: { 'import.meta.url': 'cordonModuleUrl', cordonVersion: JSON.stringify(version) },
    banner: {
      js: `${shebang ? '#!/usr/bin/env node\n' : ''}const cordonModuleUrl=require("node:url").pathToFileURL(__filename).href;`,
    },
    plugins: [
      ...(lazyFolder === undefined ? [] : [separateLazyParts(relative(outdir, lazyFolder))]),
      ...plugins,
      ...(watch ? [problemMatcherOutput] : []),
    ],
  };
}

/** What dist/cli.js loads when it is called for: half of the time of a small patch would go into reading the rest. */
const commands = ['applyPatch', 'audit', 'exec', 'execServer', 'fileWorker', 'sandbox'];
const separateCommands = {
  name: 'separate-commands',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^\\./(${commands.join('|')})\\.ts$`) }, ({ path }) => ({
      path: `./cli/${path.slice(2, -'.ts'.length)}.js`,
      external: true,
    }));
  },
};

/**
 * What is large and needed late or never: a file each in dist/lazy/, which the bundles share and load with the first use.
 * Nothing in them may be compared by identity with what a bundle has as well, such as a class of errors.
 */
const lazyParts = {
  screen: join(root, 'src', 'runtime', 'sessions', 'screen.ts'),
  telemetrySdk: join(root, 'src', 'base', 'telemetrySdk.ts'),
  undici: 'undici',
  'web-tree-sitter': 'web-tree-sitter',
};
function separateLazyParts(folder) {
  const names = Object.keys(lazyParts).join('|');
  return {
    name: 'separate-lazy-parts',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^((${names})|\\./(${names})\\.ts)$`) }, ({ path }) => ({
        path: `./${folder.split(sep).join('/')}/${basename(path, '.ts')}.js`,
        external: true,
      }));
    },
  };
}

/** One bundle per suite: test/vscode/index.ts loads those that lie beside it, inside the extension host. */
async function testBundle({ outdir, watch, lazyFolder }) {
  const folder = join(root, 'test', 'vscode');
  const names = (await readdir(folder)).filter((name) => name === 'index.ts' || name.endsWith('.test.ts'));
  const target = join(outdir, 'test', 'vscode');
  await rm(target, { recursive: true, force: true }); // a suite that was deleted must not run again
  return {
    ...bundle({ outdir: target, watch, lazyFolder }),
    entryPoints: names.map((name) => join(folder, name)),
    external: ['vscode', 'node-pty', 'mocha'],
  };
}

/** node-pty finds its native part beside itself, so it cannot be bundled: this copies what it needs to run. */
async function copyNodePty(outdir) {
  const source = join(root, 'node_modules', 'node-pty');
  const target = join(outdir, 'node_modules', 'node-pty');
  const prebuild = join('prebuilds', `${process.platform}-${process.arch}`);
  const isForWindows = (path) => /\b(windows|conpty)\w*\.js$|\b(shared|worker)\b/.test(path);
  const isNeeded = (path) =>
    path === '' ||
    path === 'package.json' ||
    path === 'LICENSE' ||
    path === 'lib' ||
    (path.startsWith(`lib${sep}`) &&
      path.endsWith('.js') &&
      (process.platform === 'win32' || !isForWindows(path))) ||
    (process.platform === 'win32' && (path === join('lib', 'shared') || path === join('lib', 'worker'))) ||
    path === 'prebuilds' ||
    ((path === prebuild || path.startsWith(prebuild + sep)) && !path.endsWith('.pdb'));
  await rm(target, { recursive: true, force: true });
  await cp(source, target, { recursive: true, filter: (path) => isNeeded(relative(source, path)) });
}

/** WebAssembly cannot be bundled: the parser's own and the grammar that it reads scripts with. */
async function copyGrammars(outdir) {
  const modules = join(root, 'node_modules');
  const target = join(outdir, 'grammars');
  await mkdir(target, { recursive: true });
  for (const path of [
    'web-tree-sitter/web-tree-sitter.wasm',
    '@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm',
  ])
    await copyWithMode(join(modules, path), join(target, basename(path)), 0o644);
}

/** The program that stands in front of every session's search path, under both names that models know. */
async function copyPatchProgram(outdir) {
  const target = join(outdir, 'bin');
  await mkdir(target, { recursive: true });
  for (const name of ['apply_patch', 'applypatch'])
    await copyWithMode(join(root, 'src', 'cli', 'apply_patch.sh'), join(target, name), 0o755);
}

async function copyWithMode(source, target, mode) {
  await copyFile(source, target);
  await chmod(target, mode);
}

/** The Linux launcher's last step is a few kilobytes of C without a library, so that it starts in no time. */
async function compileHelper(outdir) {
  if (process.platform !== 'linux') return;
  const output = join(outdir, 'helper', `launch-linux-${process.arch}`);
  const files = (await readdir(helperFolder)).map((name) => join(helperFolder, name));
  const [built, ...sources] = await Promise.all([output, ...files].map(modified));
  if (built !== undefined && sources.every((source) => built > source)) return;
  await mkdir(dirname(output), { recursive: true });
  const temporary = `${output}.${process.pid}`;
  const compiler = process.env.CC || 'gcc';
  const args = [
    ...['-Os', '-static', '-nostdlib', '-ffreestanding', '-fno-stack-protector', '-fno-builtin'],
    ...['-fno-asynchronous-unwind-tables', '-Wall', '-Wextra', '-Werror'],
    ...['-Wl,--build-id=none', '-Wl,-z,noexecstack', '-s', '-o', temporary],
    ...files.filter((path) => path.endsWith('.c')),
  ];
  try {
    await promisify(execFile)(compiler, args);
  } catch (error) {
    if (error.code === 'ENOENT') {
      throw new Error(
        `The sandbox helper needs a C compiler and "${compiler}" is not installed. Type: apt-get install gcc`,
        { cause: error },
      );
    }
    throw new Error(`The sandbox helper does not compile:\n${error.stderr}`, { cause: error });
  }
  // Renamed into place, because a running sandbox may be executing the old one.
  await rename(temporary, output);
}

async function modified(path) {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}

/** Prints errors the way VS Code's `$esbuild-watch` problem matcher reads them. */
const problemMatcherOutput = {
  name: 'problem-matcher-output',
  setup(build) {
    build.onStart(() => console.log('[watch] build started'));
    build.onEnd((result) => {
      for (const { text, location } of result.errors) {
        console.error(`✘ [ERROR] ${text}`);
        if (location) console.error(`    ${location.file}:${location.line}:${location.column}:`);
      }
      console.log('[watch] build finished');
    });
  },
};

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const flags = process.argv.slice(2);
  const outdir = flags.find((flag) => flag.startsWith('--outdir='))?.slice('--outdir='.length);
  try {
    await build({
      production: flags.includes('--production'),
      tests: flags.includes('--tests'),
      watch: flags.includes('--watch'),
      ...(outdir === undefined ? {} : { outdir }),
    });
  } catch (error) {
    // esbuild has printed its own errors already.
    if (!error.errors) console.error(error.message);
    process.exitCode = 1;
  }
}
