import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import type { SandboxManagerOptions } from '../../src/sandbox/createSandboxManager.ts';
import { createSandboxManager } from '../../src/sandbox/createSandboxManager.ts';
import { companionMounts } from '../../src/sandbox/linux/bubblewrap/companionMounts.ts';
import { helperInside } from '../../src/sandbox/linux/bubblewrap/machine.ts';
import type { Mount } from '../../src/sandbox/linux/bubblewrap/mounts.ts';
import { mountArguments } from '../../src/sandbox/linux/bubblewrap/mounts.ts';
import { buildFilter } from '../../src/sandbox/linux/seccomp/filter.ts';
import { sandboxRules } from '../../src/sandbox/linux/seccomp/rules.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import type { PolicyInput } from '../../src/sandbox/policy/input.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';
import type { Command, Launch, SandboxManager } from '../../src/sandbox/sandboxManager.ts';

const project = join(import.meta.dirname, '../..');

export const isRoot = process.getuid?.() === 0;

/**
 * Where the tests take place, removed at the end: outside `/tmp`, which the sandbox hides, and, for root, in a place
 * that ordinary users can enter. The checkout may be neither.
 */
const laboratory = makeLaboratory();

/** The real companion program, as `npm run build` leaves it. */
export const helperPath = bring(join(project, 'dist/helper', `launch-linux-${process.arch}`), 'dist/helper');

/** A Node that commands in the sandbox can see. */
export const nodePath = ['/tmp/', '/var/tmp/', '/run/'].some((folder) =>
  realpathSync(process.execPath).startsWith(folder),
)
  ? bring(process.execPath)
  : process.execPath;

const nothingOfThePerson = {
  limits: { processes: null, memoryMiB: null, fileSizeMiB: null },
  caches: 'off',
} as const;

/** Changes a launcher's argv: takes a defence away. */
export type Edit = (argv: readonly string[]) => readonly string[];

export interface Outcome {
  /** 128 + n for signal n. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly without?: Edit;
  readonly env?: Readonly<Record<string, string>>;
  /** Goes around what the launcher would have removed from the environment. */
  readonly launcherEnv?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A shell command that ends by running its arguments: what started the launcher. */
  readonly startedBy?: readonly string[];
  readonly tty?: boolean;
}

/** A root, a folder outside of it, and the real sandbox of this machine. */
export class Arena {
  readonly folder: string;
  readonly root: string;
  readonly outside: string;
  readonly manager: SandboxManager;
  readonly #user: PolicyInput['user'];

  constructor(
    user: PolicyInput['user'] = {},
    options: Partial<SandboxManagerOptions> = {},
    base = laboratory,
  ) {
    this.folder = realpathSync(mkdtempSync(join(base, 'escape-')));
    this.root = join(this.folder, 'root');
    this.outside = join(this.folder, 'outside');
    mkdirSync(this.root);
    mkdirSync(this.outside);
    this.#user = user;
    this.manager = createSandboxManager({
      platform: process.platform,
      helperPath,
      searchPath: process.env['PATH'] ?? '',
      log: silentLog,
      untrustedFolders: () => [this.root],
      ...(process.env['CORDON_MOUNTED_BY'] === 'bubblewrap' && { mountedBy: 'bubblewrap' }),
      ...options,
    });
  }

  /** Without what the default policy takes from this very machine: its person's home and its resources. */
  policy(user: PolicyInput['user'] = this.#user, root = this.root): SandboxPolicy {
    const machine = { ...nodeMachine(), homeDir: '/nonexistent' };
    const policy = resolvePolicy({
      ...machine,
      root,
      isTrusted: true,
      user: { ...nothingOfThePerson, ...user },
    });
    assert.ok(policy.ok, policy.ok ? '' : policy.error.message);
    return policy.value;
  }

  async launch(
    argv: readonly string[],
    options: Partial<Command> = {},
    policy = this.policy(),
  ): Promise<Launch> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: homedir() };
    const launch = await this.manager.transform(policy, {
      argv,
      cwd: this.root,
      env,
      tty: false,
      ...options,
    });
    assert.ok(launch.ok, launch.ok ? '' : `${launch.error.message} ${launch.error.hint}`);
    return launch.value;
  }

  /** Runs a command to its end in the sandbox, or in what is left of it. */
  async run(argv: readonly string[], options: RunOptions = {}, policy = this.policy()): Promise<Outcome> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: homedir(), ...options.env };
    const launch = await this.launch(argv, { env, cwd: options.cwd ?? this.root }, policy);
    const edited = options.without?.(launch.argv) ?? launch.argv;
    try {
      return await finished(
        start([...(options.startedBy ?? []), ...edited], launch.cwd, {
          ...launch.env,
          ...options.launcherEnv,
        }),
      );
    } finally {
      await launch.release();
    }
  }

  shell(script: string, options: RunOptions = {}): Promise<Outcome> {
    return this.run(['/bin/bash', '-c', script], options);
  }

  /** Runs JavaScript: what a shell cannot say. */
  node(script: string, options: RunOptions = {}): Promise<Outcome> {
    return this.run([nodePath, '-e', script], options);
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** An arena, made by root, in which that user starts the launchers. */
export async function arenaOf(uid: number, user: PolicyInput['user'] = {}): Promise<Arena> {
  const runtime = realpathSync(mkdtempSync(join(laboratory, 'runtime-')));
  // Root's home is nothing that others could put a mount on.
  const cache = join(runtime, 'cache');
  mkdirSync(cache);
  const environment = { XDG_RUNTIME_DIR: runtime, XDG_CACHE_HOME: cache, HOME: join(runtime, 'missing') };
  const arena = new Arena(user, { environment });
  const report = (await arena.manager.check()).launcherFor(arena.policy());
  assert.ok(report.ok, report.ok ? '' : report.error.message);
  execFileSync('chown', ['-R', `${uid}:${uid}`, arena.folder, runtime]);
  chmodSync(arena.root, 0o777); // protected names are planned by root, which is not the owner
  return arena;
}

export function start(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const [file = '', ...args] = argv;
  return spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

export async function finished(child: ChildProcess): Promise<Outcome> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (output.stdout += chunk.toString('latin1')));
  child.stderr?.on('data', (chunk: Buffer) => (output.stderr += chunk.toString('latin1')));
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? (signal === null ? -1 : 128)));
  });
  return { exitCode, ...output };
}

/** Takes the first occurrence of these consecutive arguments out; fails when they are not there. */
export function removing(...option: readonly string[]): Edit {
  return replacing(option, []);
}

export function replacing(option: readonly string[], by: readonly string[]): Edit {
  return (argv) => {
    const at = argv.findIndex((_, index) => option.every((word, offset) => argv[index + offset] === word));
    assert.ok(at >= 0, `the launcher has no "${option.join(' ')}": the test takes away what is not there`);
    return [...argv.slice(0, at), ...by, ...argv.slice(at + option.length)];
  };
}

/** Takes one rule out of the seccomp program. */
export function removingRule(name: string): Edit {
  return (argv) => {
    const rules = sandboxRules.filter((rule) => rule.name !== name);
    assert.notEqual(rules.length, sandboxRules.length, `no rule ${name}`);
    const at = argv.indexOf('--seccomp') + 1;
    return argv.with(at, Buffer.from(buildFilter(rules)).toString('hex'));
  };
}

/** Runs the command directly as process 1: without descriptors closed, Landlock scope, filter and group. */
export const withoutCompanion: Edit = (argv) => {
  const at = argv.indexOf('--', argv.indexOf('--chdir')) + 1;
  const command = argv.slice(argv.indexOf('--', at) + 1);
  if (!isMountedByCompanion(argv)) {
    return [...argv.slice(0, at), ...command];
  }
  // Where it would have made the mounts, it is not in its place either, and bubblewrap makes the ground.
  const found = command.map((word) => (word === helperInside ? helperPath : word));
  return [...argv.slice(0, at - 1), '--dev', '/dev', '--proc', '/proc', '--', ...found];
};

const isMountedByCompanion = (argv: readonly string[]): boolean => argv.includes('--mounts');

/** Puts other mounts, shallow before deep, in the place of what is mounted on a path, whoever mounts it. */
export function replacingMount(path: string, ...mounts: readonly Mount[]): Edit {
  return (argv) => {
    const isByCompanion = isMountedByCompanion(argv);
    const at = isByCompanion
      ? placeOf(path, argv, argv.indexOf('--mounts') + 1, wordsOfCompanion)
      : placeOf(path, argv, argv.indexOf('--cap-drop') + 2, wordsOfBubblewrap);
    assert.ok(at !== undefined, `nothing is mounted on ${path}: the test takes away what is not there`);
    const words = isByCompanion
      ? companionMounts(mounts).slice(1)
      : mounts.flatMap((mount) => mountArguments(mount, true));
    const edited = [...argv.slice(0, at.start), ...words, ...argv.slice(at.end)];
    return isByCompanion ? withoutSteps(path, edited) : withoutClosing(path, edited);
  };
}

/** What is shown read-only on a path. */
export function sourceOf(path: string, argv: readonly string[]): string {
  const at = argv.findIndex(
    (word, index) => (word === 'read' || word === '--ro-bind') && argv[index + 2] === path,
  );
  return argv[at + 1] ?? assert.fail(`nothing is mounted on ${path}`);
}

export const withoutMount = (path: string): Edit => replacingMount(path);

/** Leaves the machine's whole tree as writable as it is. */
export const writableMachine = replacingMount('/', { path: '/', kind: 'write' });

function withoutClosing(path: string, argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word, index) => word === '--remount-ro' && argv[index + 1] === path);
  return at < 0 ? argv : [...argv.slice(0, at), ...argv.slice(at + 2)];
}

/** Folders that would have been made in the mount. */
function withoutSteps(path: string, argv: readonly string[]): readonly string[] {
  const at = argv.findIndex(
    (word, index) => word === 'step' && argv[index + 1]?.startsWith(`${path}/`) === true,
  );
  return at < 0 || path === '/' ? argv : withoutSteps(path, [...argv.slice(0, at), ...argv.slice(at + 2)]);
}

const sourced: ReadonlySet<string> = new Set(['write', 'read', 'link']);

const wordsOfCompanion = (word: string): number => (sourced.has(word) ? 3 : 2);

/** The number of words of bubblewrap's option for a mount, with what belongs to it. */
function wordsOfBubblewrap(word: string, argv: readonly string[], at: number): number {
  if (word === '--perms') {
    return 2 + wordsOfBubblewrap(argv[at + 2] ?? '', argv, at + 2);
  }
  if (word === '--tmpfs' && argv[at + 2] === '--remount-ro' && argv[at + 3] === argv[at + 1]) {
    return 4;
  }
  return word === '--bind' || word === '--ro-bind' || word === '--symlink' ? 3 : 2;
}

function placeOf(
  path: string,
  argv: readonly string[],
  first: number,
  lengthOf: (word: string, argv: readonly string[], at: number) => number,
): { readonly start: number; readonly end: number } | undefined {
  for (let start = first; start < argv.length && argv[start] !== '--';) {
    const end = start + lengthOf(argv[start] ?? '', argv, start);
    const words = argv.slice(start, end);
    const mounted = words.at(words.includes('--remount-ro') ? -3 : -1);
    if (mounted === path) {
      return { start, end };
    }
    start = end;
  }
  return undefined;
}

/** Lets the kernel make user namespaces. */
export const withoutLastNamespace: Edit = (argv) =>
  removing(isMountedByCompanion(argv) ? '--last-namespace' : '--disable-userns')(argv);

/** The command is process 1, or its child, with the rights that were needed to set up the sandbox. */
export const withCapabilities: Edit = (argv) =>
  isMountedByCompanion(argv)
    ? withoutCompanion(argv)
    : all(removing('--cap-drop', 'ALL'), removing('--disable-userns'), removingRule('mounts'))(argv);

/** Takes away the user namespace and what bubblewrap does in it. */
export const ownUser: Edit = (argv) =>
  isMountedByCompanion(argv)
    ? all(removing('--unshare-user'), removing('--uid', '0'), removing('--gid', '0'))(argv)
    : all(removing('--unshare-user'), removing('--disable-userns'), removing('--cap-drop', 'ALL'))(argv);

/**
 * Leaves the command among the processes of the machine. Only where bubblewrap makes the mounts, or instead of the
 * companion: the kernel lets it make no /proc of processes that are not its own, and bubblewrap shows the machine's.
 */
export const ownProcesses: Edit = (argv) => all(removing('--unshare-pid'), removing('--as-pid-1'))(argv);

export function all(...edits: readonly Edit[]): Edit {
  return (argv) => edits.reduce((current, edit) => edit(current), argv);
}

function makeLaboratory(): string {
  const parent = isRoot ? '/var/lib' : join(homedir(), '.cache');
  mkdirSync(parent, { recursive: true });
  const folder = realpathSync(mkdtempSync(join(parent, 'cordon-escape-')));
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function bring(program: string, place = 'bin'): string {
  const folder = join(laboratory, place);
  mkdirSync(folder, { recursive: true });
  const copy = join(folder, basename(program));
  copyFileSync(program, copy);
  return copy;
}

/** Compiles an attack of test/fixtures/escape into the folder. */
export function compileAttack(name: string, folder: string, flags: readonly string[] = []): string {
  const output = join(folder, name);
  execFileSync('gcc', ['-O1', ...flags, '-o', output, join(project, 'test/fixtures/escape', `${name}.c`)]);
  return output;
}

export function read(path: string): string {
  return execFileSync('cat', [path], { encoding: 'utf8' });
}
