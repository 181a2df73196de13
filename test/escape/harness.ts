import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import type { SandboxManagerOptions } from '../../src/sandbox/createSandboxManager.ts';
import { createSandboxManager } from '../../src/sandbox/createSandboxManager.ts';
import { helperInside } from '../../src/sandbox/linux/bubblewrap/machine.ts';
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
      ...options,
    });
  }

  /** Without what the default policy takes from this very machine: its person's home and its resources. */
  policy(user: PolicyInput['user'] = this.#user, root = this.root): SandboxPolicy {
    const machine = { ...nodeMachine(), homeDir: '/nonexistent' };
    const policy = resolvePolicy({ ...machine, root, isTrusted: true, user: { ...nothingOfThePerson, ...user } });
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
  const environment = { XDG_RUNTIME_DIR: runtime, HOME: '/nonexistent' };
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
  const at = argv.indexOf(helperInside, argv.indexOf('--chdir'));
  return [...argv.slice(0, at), ...argv.slice(argv.indexOf('--', at) + 1)];
};

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
