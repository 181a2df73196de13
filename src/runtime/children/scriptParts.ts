import { randomBytes } from 'node:crypto';
import { quoteWords } from '../../sandbox/commands/quoteWords.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import type { Door, DoorConnection, HeldPaths } from '../../sandbox/sandboxManager.ts';
import type { Consent } from '../approvals/consent.ts';
import { refusalFor } from '../approvals/refusals.ts';
import type { Audit } from '../audit/audit.ts';
import { CommandAudit } from '../audit/commandAudit.ts';
import type { ExecBackend, ExitStatus, StartParams } from '../exec/execBackend.ts';
import type { JudgedPart, Orchestrator } from '../orchestrator.ts';
import type { RefusedCommand } from '../places.ts';
import type { Ground } from './ground.ts';
import { findGround } from './ground.ts';
import { PartConnection } from './partConnection.ts';
import type { PartQuestion } from './partFrames.ts';
import { FrameReader, parseQuestion } from './partFrames.ts';
import { Questions } from './questions.ts';
import type { RunningScript } from './runningScript.ts';

/** Parts of one script that run apart from it at the same time. */
const mostRunning = 16;
/** Whoever connects has its question ready, and its streams: how long either may take. */
const patienceMs = 10_000;

export interface ScriptPartsOptions {
  readonly orchestrator: Orchestrator;
  readonly consent: Consent;
  readonly backend: ExecBackend;
  readonly audit: Audit;
}

/**
 * The programs of one script that a rule speaks of: each asks here before it runs. What they say is not to be trusted,
 * since anything in the sandbox can say it; they get what the rules or the person give to these words in this folder.
 */
export class ScriptParts {
  readonly door: Door;
  readonly #options: ScriptPartsOptions;
  readonly #script = Promise.withResolvers<RunningScript>();
  readonly #questions = new Questions();
  /** Who waits for the connection with these streams. */
  readonly #expected = new Map<string, (streams: DoorConnection) => void>();
  #running = 0;

  constructor(asked: Pick<Door, 'programs' | 'restricted'>, options: ScriptPartsOptions) {
    this.#options = options;
    this.door = { ...asked, accept: (connection, sandbox) => this.#accept(connection, sandbox) };
  }

  /** The script runs: from now on its parts get answers. */
  begin(script: RunningScript): void {
    this.#script.resolve(script);
  }

  #accept(connection: DoorConnection, sandbox: HeldPaths): void {
    const reader = new FrameReader();
    let part: PartConnection | undefined;
    const patience = setTimeout(() => connection.destroy(), patienceMs);
    connection.once('close', () => clearTimeout(patience));
    const read = (chunk: Buffer): void => {
      for (const frame of reader.read(chunk) ?? [{ letter: '', rest: chunk }]) {
        clearTimeout(patience);
        if (part !== undefined) {
          part.heed(frame);
        } else if (frame.letter === 'A') {
          part = new PartConnection(connection);
          void this.#serve(part, parseQuestion(frame.rest), sandbox);
        } else {
          connection.off('data', read);
          connection.pause();
          this.#deliver(frame.letter === 'H' ? frame.rest.toString('latin1') : '', connection);
          return;
        }
      }
    };
    connection.on('data', read);
    connection.resume();
  }

  #deliver(key: string, streams: DoorConnection): void {
    const take = this.#expected.get(key);
    this.#expected.delete(key);
    if (take === undefined) {
      streams.destroy();
    } else {
      take(streams);
    }
  }

  async #serve(part: PartConnection, question: PartQuestion | undefined, sandbox: HeldPaths): Promise<void> {
    // What no link stands for was asked by somebody else, and nobody has to.
    if (question === undefined || !this.door.programs.includes(question.argv[0] ?? '')) {
      part.runInside();
      return;
    }
    const script = await this.#script.promise;
    let ground: Awaited<ReturnType<typeof findGround>> | undefined;
    try {
      const judged = await this.#options.orchestrator.judgePart(question, script, async (surroundings) => {
        ground = await findGround(question, { ...surroundings, script, sandbox });
        return ground.ok ? undefined : ground.error;
      });
      if (!judged.ok) {
        part.deny(wordsOf(judged.error));
        return;
      }
      await this.#carryOut(part, question, judged.value, ground?.ok === true ? ground.value : undefined);
    } catch (error) {
      part.fail(`Cordon failed: ${String(error)}`);
    } finally {
      if (ground?.ok === true) {
        await ground.value.folder.close();
      }
    }
  }

  async #carryOut(
    part: PartConnection,
    question: PartQuestion,
    judged: JudgedPart,
    ground: Ground | undefined,
  ): Promise<void> {
    const { decision } = judged;
    if (decision.kind === 'inside') {
      part.runInside();
      return;
    }
    const { session, owner } = await this.#script.promise;
    const entry = new CommandAudit(this.#options.audit, quoteWords(judged.argv), session);
    entry.judgedPart(judged);
    switch (decision.kind) {
      case 'refuse':
        part.deny(wordsOf(decision));
        return;
      case 'outside':
        await this.#runApart(part, question, judged, ground, [{ kind: 'unsandboxed' }], entry);
        return;
      case 'ask': {
        const key = JSON.stringify([judged.cwd, ...judged.argv]);
        const answer = await this.#questions.ask(
          key,
          (signal) => this.#options.consent.ofPart(judged, decision.question, { owner, signal }),
          part.ended,
        );
        if (answer === 'too-many') {
          entry.failed(judged, tooMany);
          part.deny(tooMany);
          return;
        }
        entry.answered(judged, answer);
        if (answer.kind === 'deny') {
          part.deny(wordsOf(refusalFor(answer, decision.question)));
        } else if (answer.widenings.length === 0) {
          part.runInside();
        } else {
          await this.#runApart(part, question, judged, ground, answer.widenings, entry);
        }
      }
    }
  }

  /** Runs it with what was given, as long as everything is as it was when it was given; resolves when it has ended. */
  async #runApart(
    part: PartConnection,
    question: PartQuestion,
    judged: JudgedPart,
    ground: Ground | undefined,
    widenings: readonly Widening[],
    entry: CommandAudit,
  ): Promise<void> {
    const script = await this.#script.promise;
    const prepared = await this.#options.orchestrator.preparePart(question, script, widenings);
    const leaves = widenings.some(({ kind }) => kind === 'unsandboxed');
    const refuse = (message: string): void => {
      entry.failed(judged, message);
      part.deny(message);
    };
    if (!prepared.ok) {
      refuse(wordsOf(prepared.error));
    } else if (isUnsandboxed(prepared.value.policy) !== leaves) {
      refuse('the policy of the folder has changed meanwhile.');
    } else if (ground === undefined || !(await ground.folder.isInPlace())) {
      refuse(`the folder ${judged.cwd} is not the one any more that was asked about.`);
    } else if (this.#running >= mostRunning) {
      refuse(`${mostRunning} parts of this script run already.`);
    } else {
      this.#running++;
      const command = {
        argv: [ground.program, ...question.argv.slice(1)],
        cwd: ground.folder.path,
        // Outside the very folder; a sandbox has its own view, which is why git is told its repository.
        ...(leaves && { folder: ground.folder.identity }),
        env: { ...prepared.value.env, ...ground.env },
        policy: prepared.value.policy,
      };
      await this.#run(part, command, judged, entry).finally(() => this.#running--);
    }
  }

  async #run(
    part: PartConnection,
    command: Pick<StartParams, 'argv' | 'cwd' | 'folder' | 'env' | 'policy'>,
    judged: JudgedPart,
    entry: CommandAudit,
  ): Promise<void> {
    const startedAt = performance.now();
    const fail = (message: string): void => {
      entry.failed(judged, message);
      part.fail(message);
    };
    const streams = await this.#streamsOf(part);
    if (streams === undefined) {
      fail('its input and output did not come.');
      return;
    }
    const started = await this.#options.backend.start({ ...command, streams });
    if (!started.ok) {
      streams.destroy();
      fail(wordsOf(started.error));
      return;
    }
    const { value: process } = started;
    const kill = (): void => void process.terminate(0);
    part.onSignal = (name) => void process.signal(name);
    part.ended.addEventListener('abort', kill);
    if (part.ended.aborted) {
      kill();
    }
    await process.closed;
    part.ended.removeEventListener('abort', kill);
    // What is closed has exited.
    const exit = process.exit as ExitStatus;
    entry.ended(judged, {
      exit,
      findings: process.findings.length,
      durationMs: performance.now() - startedAt,
    });
    part.exit(exit);
  }

  /** The connection over which the streams come; undefined when it does not. */
  async #streamsOf(part: PartConnection): Promise<DoorConnection | undefined> {
    const key = randomBytes(16).toString('hex');
    const { promise, resolve } = Promise.withResolvers<DoorConnection | undefined>();
    const giveUp = (): void => resolve(undefined);
    const timer = setTimeout(giveUp, patienceMs);
    part.ended.addEventListener('abort', giveUp, { once: true });
    this.#expected.set(key, resolve);
    part.awaitStreams(key);
    const streams = await promise;
    clearTimeout(timer);
    part.ended.removeEventListener('abort', giveUp);
    this.#expected.delete(key);
    return streams;
  }
}

const tooMany = 'this script has asked about too many of its parts: run them as commands of their own.';

function wordsOf({ message, hint }: RefusedCommand): string {
  return `${message} ${hint}`;
}
