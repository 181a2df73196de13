import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import type { BashParser } from '../sandbox/commands/bashParser.ts';
import { runsGit } from '../sandbox/commands/runsGit.ts';
import { childEnvironment } from '../sandbox/environment.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import type { Root, Roots } from './roots.ts';
import { searchPathVariables, withSearchPath } from './searchPath.ts';
import type { Confirmation } from './tools/tool.ts';

export interface CommandRequest {
  readonly cmd: string;
  /** Name of a root, absolute path, or path relative to the active root. */
  readonly workdir?: string | undefined;
  /** Absolute path of a shell; the person's own by default. */
  readonly shell?: string | undefined;
  readonly login: boolean;
  readonly isTty: boolean;
}

/** Where something takes place, and under which policy. */
export interface Place {
  /** Canonical path of an existing folder. */
  readonly cwd: string;
  readonly root: Root;
  readonly policy: SandboxPolicy;
}

/** A command with everything decided: where, under which policy, with which environment. */
export interface PreparedCommand extends Place {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RefusedCommand {
  readonly message: string;
  readonly hint: string;
}

export interface OrchestratorOptions {
  readonly roots: Roots;
  readonly parentEnv: NodeJS.ProcessEnv;
  readonly parseScript: BashParser;
  /** The programs that Cordon puts in front of every command's search path. */
  readonly helperFolder?: string | undefined;
}

/** Decides where and under which policy commands run: once per command, here and nowhere else. */
export class Orchestrator {
  readonly #roots: Roots;
  readonly #parentEnv: NodeJS.ProcessEnv;
  readonly #parseScript: BashParser;
  readonly #helperFolder: string | undefined;

  constructor({ roots, parentEnv, parseScript, helperFolder }: OrchestratorOptions) {
    this.#roots = roots;
    this.#parentEnv = parentEnv;
    this.#parseScript = parseScript;
    this.#helperFolder = helperFolder;
  }

  async prepare(request: CommandRequest): Promise<Result<PreparedCommand, RefusedCommand>> {
    const place = await this.locate(request.workdir);
    if (!place.ok) {
      return place;
    }
    const shell = await this.#shell(request.shell);
    if (!shell.ok) {
      return shell;
    }
    const policy = await policyForCommand(place.value.policy, ['sh', '-c', request.cmd], this.#parseScript);
    const script =
      request.login && this.#helperFolder !== undefined
        ? withSearchPath(shell.value, this.#helperFolder, request.cmd)
        : request.cmd;
    return ok({
      ...place.value,
      policy,
      argv: [shell.value, request.login ? '-lc' : '-c', script],
      env: environmentUnder(policy, this.#parentEnv, request.isTty, this.#helperFolder),
    });
  }

  /** The folder, root and policy that a workdir stands for. */
  async locate(workdir: string | undefined): Promise<Result<Place, RefusedCommand>> {
    const place = this.#place(workdir);
    if (!place.ok) {
      return place;
    }
    const cwd = await realpath(place.value.folder).catch(() => undefined);
    if (cwd === undefined || !(await stat(cwd)).isDirectory()) {
      return fail({
        message: `workdir ${place.value.folder} is not an existing folder.`,
        hint: `Pass an existing folder, or leave workdir out to run in ${place.value.root.path}.`,
      });
    }
    // A link may lead into another root: the folder that the command really runs in decides the policy.
    const root = this.#rootOf(cwd) ?? place.value.root;
    const policy = this.#roots.policyFor(root);
    if (!policy.ok) {
      return fail(policy.error);
    }
    return ok({ cwd, root, policy: policy.value });
  }

  /** The question to ask before a command runs without a sandbox; undefined when it is confined. */
  confirmation(request: Pick<CommandRequest, 'cmd' | 'workdir'>): Confirmation | undefined {
    const place = this.#place(request.workdir);
    if (!place.ok) {
      return undefined;
    }
    const root = this.#rootOf(place.value.folder) ?? place.value.root;
    const policy = this.#roots.policyFor(root);
    return policy.ok ? unsandboxedConfirmation(policy.value, request.cmd, root) : undefined;
  }

  #place(workdir: string | undefined): Result<{ root: Root; folder: string }, RefusedCommand> {
    const roots = this.#roots.list();
    const active = this.#roots.active();
    if (roots.length === 0) {
      return fail({
        message: 'No folder is open, so there is no sandbox policy to run under.',
        hint: 'Open a folder first.',
      });
    }
    const named = roots.find((root) => root.name === workdir);
    if (named !== undefined) {
      return ok({ root: named, folder: named.path });
    }
    if (workdir !== undefined && isAbsolute(workdir)) {
      const root = this.#rootOf(workdir) ?? active ?? (roots.length === 1 ? roots[0] : undefined);
      return root === undefined ? this.#ambiguous() : ok({ root, folder: workdir });
    }
    const root = active ?? (roots.length === 1 ? roots[0] : undefined);
    return root === undefined ? this.#ambiguous() : ok({ root, folder: resolve(root.path, workdir ?? '.') });
  }

  #ambiguous(): Result<never, RefusedCommand> {
    const names = this.#roots.list().map((root) => `${root.name} (${root.path})`);
    return fail({
      message: 'Several folders are open and none of them is active, so workdir is required.',
      hint: `Pass workdir as the name or path of one of: ${names.join(', ')}.`,
    });
  }

  /** The deepest root that contains a path. */
  #rootOf(path: string): Root | undefined {
    return this.#roots
      .list()
      .filter((root) => !relative(root.path, path).startsWith('..'))
      .sort((a, b) => b.path.length - a.path.length)[0];
  }

  async #shell(wanted: string | undefined): Promise<Result<string, RefusedCommand>> {
    const candidates =
      wanted === undefined ? [this.#parentEnv['SHELL'] ?? '', '/bin/bash', '/bin/sh'] : [wanted];
    for (const shell of candidates) {
      if (isAbsolute(shell) && (await isExecutable(shell))) {
        return ok(shell);
      }
    }
    return fail({
      message: `shell ${wanted ?? '/bin/sh'} is not an executable file.`,
      hint: 'Pass the absolute path of an installed shell, such as /bin/bash, or leave shell out.',
    });
  }
}

/**
 * A root's policy as it holds for one command: `git: commands` becomes what this command line gets. Every script is
 * read with the bash grammar.
 */
export async function policyForCommand(
  policy: SandboxPolicy,
  argv: readonly string[],
  parseScript: BashParser,
): Promise<SandboxPolicy> {
  if (policy.git !== 'commands') {
    return policy;
  }
  const git = (await runsGit(argv, parseScript)) ? 'writable' : 'read-only';
  return { ...policy, git, sources: { ...policy.sources, git: 'request' } };
}

/** The question to ask before something runs or is typed without a sandbox; undefined under a confining policy. */
export function unsandboxedConfirmation(
  policy: SandboxPolicy,
  text: string,
  root: Root,
): Confirmation | undefined {
  if (!isUnsandboxed(policy)) {
    return undefined;
  }
  return {
    title: 'Run without a sandbox?',
    message: `${text}\n\nThe folder ${root.name} is set to full access: this can change any file of yours and reach the network.`,
  };
}

/** The environment of a command under a policy; the programs of `helperFolder` come first on its search path. */
export function environmentUnder(
  policy: SandboxPolicy,
  parent: NodeJS.ProcessEnv,
  isTty: boolean,
  helperFolder?: string,
): Record<string, string> {
  const isConfined = !isUnsandboxed(policy);
  const environment = childEnvironment({
    policy: policy.environment,
    parent,
    isTty,
    isNetworkOff: isConfined && policy.network === 'off',
    isProxied: isConfined && policy.network === 'allow-list',
    isTmpPrivate: isConfined && policy.tmp === 'private',
    ...(isConfined && { marker: policy.mode }),
  });
  return helperFolder === undefined
    ? environment
    : { ...environment, ...searchPathVariables(environment['PATH'], helperFolder) };
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    async () => (await stat(path)).isFile(),
    () => false,
  );
}
