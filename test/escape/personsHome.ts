import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { environmentUnder } from '../../src/runtime/environmentUnder.ts';
import type { SandboxManagerOptions } from '../../src/sandbox/createSandboxManager.ts';
import type { PolicyInput } from '../../src/sandbox/policy/input.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';
import type { Edit, Outcome } from './harness.ts';
import { Arena, finished, start } from './harness.ts';

/** Whole toolchains are too large to copy; people link them from elsewhere, too. */
const toolchains = ['.rustup', '.pyenv', '.cargo/bin'];

export interface Running {
  readonly child: ChildProcess;
  readonly outcome: Promise<Outcome>;
}

/**
 * The home folder of a person with a project in it, and everything as it is for a command that an agent starts there:
 * the default policy with its hidden home, caches and limits, and the environment made from the editor's own.
 */
export class PersonsHome {
  /** Outside of the home folder. */
  readonly elsewhere: Arena;
  readonly home: string;
  readonly project: string;
  readonly searchPath: string;
  readonly #arena: Arena;

  constructor(options: Partial<SandboxManagerOptions> = {}) {
    this.elsewhere = new Arena();
    this.home = join(this.elsewhere.folder, 'home');
    mkdirSync(join(this.home, '.cargo'), { recursive: true });
    writeFileSync(join(this.home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
    for (const place of toolchains.filter((name) => existsSync(join(homedir(), name)))) {
      symlinkSync(join(homedir(), place), join(this.home, place));
    }
    this.searchPath = (process.env['PATH'] ?? '').replaceAll(homedir(), this.home);
    this.#arena = new Arena({}, { environment: { HOME: this.home }, ...options }, this.home);
    this.project = this.#arena.root;
  }

  policy(user: PolicyInput['user'] = {}): SandboxPolicy {
    const machine = { ...nodeMachine(this.searchPath), homeDir: this.home };
    const policy = resolvePolicy({ ...machine, root: this.project, isTrusted: true, user });
    assert.ok(policy.ok, policy.ok ? '' : policy.error.message);
    return policy.value;
  }

  /** Starts a script of the shell in the project, or in a folder of it; `editor` is added to the editor's variables. */
  async start(
    script: string,
    options: {
      readonly folder?: string;
      readonly user?: PolicyInput['user'];
      readonly editor?: Readonly<Record<string, string>>;
      readonly without?: Edit;
    } = {},
  ): Promise<Running> {
    const policy = this.policy(options.user);
    const parent = {
      PATH: this.searchPath,
      HOME: this.home,
      USER: 'ada',
      LANG: 'C.UTF-8',
      ...options.editor,
    };
    const cwd = join(this.project, options.folder ?? '');
    mkdirSync(cwd, { recursive: true });
    const launch = await this.#arena.launch(
      ['/bin/bash', '-c', script],
      { env: environmentUnder(policy, parent, false), cwd },
      policy,
    );
    const child = start(options.without?.(launch.argv) ?? launch.argv, launch.cwd, launch.env);
    return { child, outcome: finished(child).finally(() => launch.release()) };
  }

  async run(...call: Parameters<PersonsHome['start']>): Promise<Outcome> {
    const { outcome } = await this.start(...call);
    return outcome;
  }

  dispose(): void {
    // Unlike Node it gets at paths of any length.
    execFileSync('rm', ['-rf', this.elsewhere.folder]);
  }
}
