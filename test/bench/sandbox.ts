import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureCodex } from '../../scripts/codex.mjs';
import { ensureSandboxRuntime } from '../../scripts/sandboxRuntime.mjs';
import { cacheFolder } from '../../scripts/vscodeServer.mjs';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import type { Launch } from '../../src/sandbox/sandboxManager.ts';
import { startPipeChild } from '../../src/terminal/pipeChild.ts';
import { Spawners } from '../../src/terminal/spawners.ts';
import { policyOf } from '../harness/policyOf.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTestSandbox, helperPath, testPolicy } from '../harness/testRuntime.ts';
import type { Contestants } from './statistics.ts';
import { printRatios, race } from './statistics.ts';

const env = { PATH: process.env['PATH'] ?? '', HOME: homedir() };
const program = '/bin/true';

/**
 * `/bin/true` from the decision to run it to its end: plain, in plain bubblewrap, by Cordon, by the peers. Node starts all
 * but Cordon's, which its spawner starts, as in use; once more by Node tells what the sandbox alone costs.
 */
export async function measureSandbox(rounds = 60): Promise<void> {
  const folder = await createTemporaryFolder('bench');
  const peers = await openPeers(folder.path);
  const cordon = createTestSandbox();
  const ends: Promise<unknown>[] = [];
  const spawners = new Spawners(helperPath);
  const run = async (policy: SandboxPolicy, start: Start): Promise<void> => {
    const launch = await cordon.transform(policy, { argv: [program], cwd: folder.path, env, tty: false });
    if (!launch.ok) {
      throw new Error(launch.error.message);
    }
    await start(launch.value);
    // The command has ended, and its output is there; tidying up goes on beside.
    ends.push(launch.value.release());
  };
  const bySpawner: Start = async ({ argv, cwd, env }) => {
    const [file = '', ...args] = argv;
    const child = await startPipeChild({ argv: [file, ...args], cwd, env, pipeStdin: false, spawners });
    const exit = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)));
    await new Promise<void>((resolve) => child.onDrained(resolve));
    if ((await exit) !== 0) {
      throw new Error(`${file} ended with ${await exit}`);
    }
  };
  const byNode: Start = async ({ argv: [file = '', ...args], cwd, env }) => toEnd(file, args, { cwd, env });
  try {
    const usual = testPolicy(folder.path);
    const strict = strictest(folder.path);
    const medians = await race(
      {
        'no sandbox': () => toEnd(program, []),
        'plain bwrap': () => toEnd('bwrap', [...plainBubblewrap(folder.path), program]),
        'Cordon, default policy': () => run(usual, bySpawner),
        'Cordon, strictest policy': () => run(strict, bySpawner),
        'Cordon, strictest policy, started by Node': () => run(strict, byNode),
        ...peers.contestants,
      },
      { rounds, prepare: async () => void (await Promise.all(ends.splice(0))) },
    );
    printRatios('Sandboxed /bin/true against plain bwrap (median)', medians, 'plain bwrap');
  } finally {
    await peers.dispose();
    await folder.dispose();
  }
}

type Start = (launch: Launch) => Promise<void>;

/** Every namespace, everything read-only, one folder writable: what a person would type. */
function plainBubblewrap(root: string): string[] {
  return [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--bind', root, root],
  ];
}

/** Home hidden with toolchains opened in it again, secrets by name, a list of hosts. */
function strictest(root: string): SandboxPolicy {
  const home = homedir();
  const source = 'user';
  return policyOf(root, {
    files: [
      { path: '/', access: 'read', source },
      { path: root, access: 'write', source },
      ...['/home', '/root', home].map((path) => ({ path, access: 'none', source }) as const),
      ...['.nvm', '.cargo/bin', '.rustup', '.pyenv', '.local/bin', 'go/bin'].map(
        (name) => ({ path: join(home, name), access: 'read', source }) as const,
      ),
    ],
    hidden: ['**/.env*', '**/*.pem', '**/*.key', '**/id_{rsa,ed25519}*'].map((glob) => ({
      folder: root,
      glob,
      source,
    })),
    caches: 'private',
    network: 'allow-list',
    hosts: { allow: [{ host: 'packages.example', port: 443 }], deny: [] },
  });
}

interface Peers {
  readonly contestants: Contestants;
  readonly dispose: () => Promise<void>;
}

/** The peers as their users run them: the folder writable, and one host allowed where they have such a list. */
async function openPeers(root: string): Promise<Peers> {
  const codex = await ensureCodex();
  // It makes links to itself there, which it refuses to do in a temporary folder.
  const codexHome = join(cacheFolder(), 'codex-home');
  await mkdir(codexHome, { recursive: true });
  const codexEnv = { ...env, CODEX_HOME: codexHome };
  const lacking = ['socat', 'rg'].filter((name) => !isOnPath(name));
  if (lacking.length > 0) {
    console.log(`\nsandbox-runtime is left out: it needs ${lacking.join(' and ')}, not installed here`);
  }
  const runtime = lacking.length > 0 ? nobody : await openSandboxRuntime(root);
  return {
    contestants: {
      'codex sandbox': () =>
        toEnd(codex, ['sandbox', '-c', 'sandbox_mode="workspace-write"', program], {
          cwd: root,
          env: codexEnv,
        }),
      ...runtime.contestants,
    },
    dispose: runtime.dispose,
  };
}

const nobody: Peers = { contestants: {}, dispose: async () => {} };

function isOnPath(name: string): boolean {
  return env.PATH.split(':').some((folder) => existsSync(join(folder, name)));
}

/** What is used of the peer's library. */
interface SandboxRuntimeLibrary {
  readonly SandboxManager: {
    initialize(config: object): Promise<void>;
    wrapWithSandboxArgv(
      command: string,
    ): Promise<{ readonly argv: readonly string[]; readonly env?: Record<string, string> }>;
    cleanupAfterCommand(): void;
    reset(): Promise<void>;
  };
}

async function openSandboxRuntime(root: string): Promise<Peers> {
  const paths = await ensureSandboxRuntime();
  const settings = await createTemporaryFolder('bench-settings');
  const config = {
    network: { allowedDomains: ['packages.example'], deniedDomains: [] },
    filesystem: { denyRead: [join(homedir(), '.ssh')], allowWrite: [root], denyWrite: [] },
  };
  const settingsFile = join(settings.path, 'settings.json');
  await writeFile(settingsFile, JSON.stringify(config));
  const { SandboxManager } = (await import(pathToFileURL(paths.library).href)) as SandboxRuntimeLibrary;
  await SandboxManager.initialize(config);
  return {
    contestants: {
      'sandbox-runtime, library': async () => {
        const { argv } = await SandboxManager.wrapWithSandboxArgv(program);
        const [file = '', ...args] = argv;
        await toEnd(file, args, { cwd: root, env });
        SandboxManager.cleanupAfterCommand();
      },
      'sandbox-runtime, program': () =>
        toEnd(process.execPath, [paths.program, '-s', settingsFile, '-c', program], { cwd: root, env }),
    },
    dispose: async () => {
      await SandboxManager.reset();
      await settings.dispose();
    },
  };
}

/** Runs a program to its end; anything but success would make the time worthless. */
async function toEnd(
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env: Readonly<Record<string, string>> } = { env },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stdout.resume();
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(`${file} ended with ${code}: ${said}`));
      }
    });
  });
}
