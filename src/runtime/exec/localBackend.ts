import type { Stats } from 'node:fs';
import { statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Event } from '../../base/event.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Finding } from '../../sandbox/aftermath/finding.ts';
import type { CommandNetwork } from '../../sandbox/network/commandNetwork.ts';
import { DenialScanner, isLikelyDenied } from '../../sandbox/denials/likelyDenial.ts';
import type { Launch, SandboxManager, SandboxType } from '../../sandbox/sandboxManager.ts';
import type { ChildExit, ChildHandle } from '../../terminal/childHandle.ts';
import { startAdoptingChild } from '../../terminal/adoptingChild.ts';
import { startPipeChild } from '../../terminal/pipeChild.ts';
import { isProcess, killSandbox, signalGroup, signalSandboxedGroup } from '../../terminal/processGroup.ts';
import { startPtyChild } from '../../terminal/ptyChild.ts';
import type { Spawners } from '../../terminal/spawners.ts';
import { spawnersOf } from '../../terminal/spawners.ts';
import { environmentUnder } from '../environmentUnder.ts';
import { ChunkJoiner } from './chunkJoiner.ts';
import { EventWindow } from './eventWindow.ts';
import { startableArgv } from './findExecutable.ts';
import type {
  ExecBackend,
  ExecEvent,
  ExecProcess,
  ExitStatus,
  ReadRequest,
  ReadResult,
  Refusals,
  SpawnError,
  StartError,
  StartParams,
  TerminalSize,
  WriteStatus,
} from './execBackend.ts';
import { WorkFolder } from './workFolder.ts';

const defaultGraceMs = 2_000;

export interface LocalStartParams extends StartParams {
  /** `closed` waits for whoever still holds the output, however long, unless the process is killed. */
  readonly drainsFully?: boolean;
  /** The `closed` event comes with the last output, before the sandbox is tidied up: nobody asks for what that finds. */
  readonly closesWhenDrained?: boolean;
  /** Of its proxy, under policies with an allow-list for the network. */
  readonly network?: CommandNetwork;
}

/** A process of this machine: with the ways to hold it that only its own machine has. */
export interface LocalProcess extends ExecProcess {
  /** Stops reading its output, so that it waits when its pipes are full. */
  pause(): void;
  resume(): void;
  /** Resolves when little enough of what was written waits for the process to read it. */
  whenWritable(): Promise<void>;
  readonly retainedBytes: number;
  /** Drops the output that is retained for readers. */
  forget(): void;
  /** KILL to the whole group at once, also to what an ended leader has left in it. */
  kill(): void;
}

/** Where the environment of processes with `inheritsEnvironment` comes from. */
export interface InheritedEnvironment {
  readonly parent: NodeJS.ProcessEnv;
  /** Its programs come first on the search path, unless a process brings its own. */
  readonly inFront?: string;
}

export interface LocalBackend extends ExecBackend {
  start(params: LocalStartParams): Promise<Result<LocalProcess, StartError>>;
}

/** Runs commands on this machine, each under the sandbox that its policy asks for. */
export function createLocalBackend(
  sandbox: SandboxManager,
  inherited: InheritedEnvironment = { parent: process.env },
): LocalBackend {
  return { start: (params) => startInFolder(sandbox, inherited, params) };
}

/** Holds the folder that the start is for, so that the path counts for nothing afterwards. */
async function startInFolder(
  sandbox: SandboxManager,
  inherited: InheritedEnvironment,
  params: LocalStartParams,
): Promise<Result<LocalProcess, StartError>> {
  if (params.folder === undefined) {
    return startLocal(sandbox, inherited, params);
  }
  const folder = await WorkFolder.open(params.cwd);
  try {
    return folder?.is(params.folder) === true
      ? await startLocal(sandbox, inherited, { ...params, cwd: folder.place })
      : fail(
          spawnError(
            'spawn-failed',
            `The folder ${params.cwd} is not the one any more that was asked about.`,
            'Run the command again.',
          ),
        );
  } finally {
    await folder?.close();
  }
}

async function startLocal(
  sandbox: SandboxManager,
  inherited: InheritedEnvironment,
  params: LocalStartParams,
): Promise<Result<LocalProcess, StartError>> {
  const problem = unusableStrings(params) ?? unusableFolder(params.cwd);
  if (problem !== undefined) {
    return fail(problem);
  }
  const isTty = params.tty !== undefined;
  const spawners = sandbox.companion === undefined ? undefined : spawnersOf(sandbox.companion);
  if (!isTty && params.streams === undefined) {
    spawners?.prepare();
  }
  const launch = await sandbox.transform(params.policy, {
    argv: params.argv,
    cwd: params.cwd,
    env:
      params.inheritsEnvironment === true
        ? environmentUnder(params.policy, inherited.parent, isTty, {
            inFront: params.env['PATH'] === undefined ? inherited.inFront : undefined,
            request: params.env,
          })
        : params.env,
    tty: isTty,
    ...(params.arg0 !== undefined && { arg0: params.arg0 }),
    ...(params.door !== undefined && { door: params.door }),
    ...(params.network !== undefined && { network: params.network }),
    ...(params.streams !== undefined && { adoptsStreams: true }),
  });
  if (!launch.ok) {
    return launch;
  }
  const child = await startChild(launch.value, params, spawners);
  if (!child.ok) {
    await launch.value.release();
    return child;
  }
  return ok(new StartedProcess(child.value, launch.value, params));
}

async function startChild(
  launch: Launch,
  params: LocalStartParams,
  spawners: Spawners | undefined,
): Promise<Result<ChildHandle, SpawnError>> {
  const argv = await startableArgv(launch);
  if (!argv.ok) {
    return argv;
  }
  const spec = { argv: argv.value, cwd: launch.cwd, env: launch.env };
  try {
    if (params.streams !== undefined) {
      if (!(params.streams instanceof Socket)) {
        throw new Error('its input and output come from another machine');
      }
      return ok(await startAdoptingChild(spec, params.streams));
    }
    return ok(
      params.tty === undefined
        ? await startPipeChild({
            ...spec,
            pipeStdin: params.pipeStdin ?? false,
            drainsFully: params.drainsFully ?? false,
            ...(spawners !== undefined && { spawners }),
          })
        : await startPtyChild({ ...spec, size: params.tty }),
    );
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    const hint = text.includes('E2BIG')
      ? 'The command or its environment is too long: put the text into a file and run that.'
      : 'Check the command and the limits of the machine (open files, processes).';
    return fail(spawnError('spawn-failed', `${launch.argv[0]} could not be started: ${text}.`, hint));
  }
}

/** What no operating system takes as part of a command. */
function unusableStrings({ argv, cwd, env }: StartParams): SpawnError | undefined {
  const texts = [...argv, cwd, ...Object.keys(env), ...Object.values(env)];
  if (texts.some((text) => text.includes('\0'))) {
    return spawnError(
      'spawn-failed',
      'The command, its folder or its environment contains a NUL character.',
      'Leave it out.',
    );
  }
  return argv[0] === undefined || argv[0] === ''
    ? spawnError('spawn-failed', 'The command has no program.', 'Name one as the first word.')
    : undefined;
}

/** Waits for the folder's file system, as starting a program in it does. */
function unusableFolder(path: string): SpawnError | undefined {
  const entry = statOf(path);
  const hint = 'Pass an existing folder as workdir.';
  if (entry === undefined) {
    return spawnError('spawn-not-found', `The folder ${path} does not exist.`, hint);
  }
  return entry.isDirectory() ? undefined : spawnError('spawn-failed', `${path} is not a folder.`, hint);
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function spawnError(kind: SpawnError['kind'], message: string, hint: string): SpawnError {
  return { kind, message, hint };
}

class StartedProcess implements LocalProcess {
  readonly sandbox: SandboxType;
  readonly isTty: boolean;
  readonly closed: Promise<void>;
  readonly onEvent: Event<ExecEvent>;
  readonly #window = new EventWindow();
  readonly #child: ChildHandle;
  readonly #launch: Launch;
  #findings: readonly Finding[] = [];
  /** Its number may be another process's. */
  #isForgotten = false;

  constructor(child: ChildHandle, launch: Launch, { tty, closesWhenDrained }: LocalStartParams) {
    this.#child = child;
    this.#launch = launch;
    this.sandbox = launch.sandbox;
    this.isTty = tty !== undefined;
    this.onEvent = this.#window.onEvent;
    const joiner = new ChunkJoiner((stream, chunk) => this.#window.output(stream, chunk));
    child.onOutput(({ stream, chunk }) => joiner.push(stream, chunk));
    child.onExit((exit) => {
      joiner.flush();
      this.#window.exited(this.#judge(exit));
    });
    this.closed = new Promise((resolve) => {
      child.onDrained(() => {
        this.#isForgotten = true;
        joiner.flush();
        if (closesWhenDrained === true) {
          this.#window.closed();
        }
        void launch
          .release()
          .then((findings) => {
            this.#findings = findings;
          })
          // Whatever goes wrong in the look after a run, nobody waits for its end in vain.
          .finally(() => {
            if (closesWhenDrained !== true) {
              this.#window.closed();
            }
            resolve();
          });
      });
    });
  }

  get exit(): ExitStatus | undefined {
    return this.#window.exit;
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  get refusals(): Refusals {
    return { requests: this.#launch.blocked(), calls: this.#launch.denied() };
  }

  async read(request: ReadRequest): Promise<ReadResult> {
    return this.#window.read(request);
  }

  write(bytes: Uint8Array): WriteStatus {
    if (this.exit !== undefined) {
      return 'exited';
    }
    return this.#child.write(bytes) ? 'accepted' : 'stdin-closed';
  }

  endInput(): void {
    this.#child.endInput();
  }

  resize(size: TerminalSize): void {
    this.#child.resize(size);
  }

  signal(name: NodeJS.Signals): boolean {
    if (this.exit !== undefined) {
      return false;
    }
    const { pid } = this.#child;
    return this.sandbox === 'none' ? signalGroup(pid, name) : signalSandboxedGroup(pid, name, this.sandbox);
  }

  get retainedBytes(): number {
    return this.#window.retainedBytes;
  }

  forget(): void {
    this.#window.forget();
  }

  pause(): void {
    this.#child.pause();
  }

  resume(): void {
    this.#child.resume();
  }

  async whenWritable(): Promise<void> {
    await this.#child.whenWritable();
  }

  kill(): void {
    if (this.#window.isClosed) {
      return;
    }
    if (this.exit === undefined) {
      this.#kill();
    } else {
      this.#killLeft();
    }
    this.#child.endDrain();
  }

  async terminate(graceMs: number = defaultGraceMs): Promise<void> {
    if (this.exit === undefined) {
      // Nothing of the command runs yet when the signal reaches nobody: there is no one to be graceful to.
      const killTimer = setTimeout(() => this.#kill(), this.signal('SIGTERM') ? graceMs : 0);
      await this.closed;
      clearTimeout(killTimer);
    }
    this.#killLeft();
    await this.closed;
  }

  /**
   * What ignored TERM, or was left in the background, goes with its leader: as long as any of it is there, nobody else
   * gets the leader's number.
   */
  #killLeft(): void {
    if (this.sandbox === 'none' && !(this.#isForgotten && isProcess(this.#child.pid))) {
      signalGroup(this.#child.pid, 'SIGKILL');
    }
  }

  #kill(): void {
    if (this.sandbox === 'none') {
      signalGroup(this.#child.pid, 'SIGKILL');
    } else {
      killSandbox(this.#child.pid, this.sandbox);
    }
  }

  #judge(exit: ChildExit): ExitStatus {
    if (this.sandbox === 'none' || exit.exitCode === 0) {
      return { ...exit, sandboxDenied: false };
    }
    const blockedRequests = this.#launch.blocked();
    if (blockedRequests.length > 0) {
      return { ...exit, sandboxDenied: true, blockedRequests };
    }
    const scanner = new DenialScanner();
    for (const { chunk } of this.#window.retained()) {
      scanner.push(chunk);
    }
    return { ...exit, sandboxDenied: isLikelyDenied({ exitCode: exit.exitCode, scanner }) };
  }
}
