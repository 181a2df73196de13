import { randomInt, randomUUID } from 'node:crypto';
import { Emitter } from '../../base/event.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { localName } from '../environments/environment.ts';
import type { ExecBackend, StartError, StartParams } from '../exec/execBackend.ts';
import type { SessionInfo } from './session.ts';
import { Session } from './session.ts';
import type { SessionRecord } from './sessionRecord.ts';
import { readRecord, writeRecord } from './sessionRecord.ts';

/** As in the reference: so many sessions at once; opening another prunes, but never the most recently used. */
const maxSessions = 64;
const protectedSessions = 8;
/** Finished sessions that the model has seen to their end stay viewable for a person, up to this many. */
const maxArchived = 16;
const firstId = 1_000;
const lastId = 99_999;

export type SessionRequest = Pick<SessionRecord, 'commandLine' | 'cwd' | 'root' | 'policy' | 'owner'> &
  Partial<Pick<SessionRecord, 'environment' | 'audit'>> &
  Pick<SessionInfo, 'adviseOn'> &
  Pick<StartParams, 'argv' | 'env' | 'inheritsEnvironment' | 'tty' | 'door'>;

/**
 * Owns every session: numbers them, bounds their count, and when disposed ends those that nobody could take over. An
 * editor's window that reloads cannot be told from one that closes, so the others go on for a while.
 */
export class SessionManager {
  readonly #backend: ExecBackend;
  readonly #didChange = new Emitter<void>();
  readonly onDidChange = this.#didChange.event;
  /** Sessions that the tools know, least recently used first. */
  readonly #sessions = new Map<number, Session>();
  #archived: Session[] = [];
  /** Of sessions that are being started. */
  readonly #reserved = new Set<number>();
  #restored: Promise<unknown> = Promise.resolve();

  constructor(backend: ExecBackend) {
    this.#backend = backend;
  }

  /** Every session that can still be viewed: those the tools know, then the archived ones. */
  list(): readonly Session[] {
    return [...this.#sessions.values(), ...this.#archived];
  }

  get(id: number): Session | undefined {
    return this.#sessions.get(id) ?? this.#archived.find((session) => session.id === id);
  }

  /** The sessions that the tools know. */
  known(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  /** A session that the tools know, now the most recently used one. */
  use(id: number): Session | undefined {
    const session = this.#sessions.get(id);
    if (session !== undefined) {
      this.#sessions.delete(id);
      this.#sessions.set(id, session);
    }
    return session;
  }

  /** Resolves when the sessions from before this program are among the others, if there is anything to wait for. */
  get restored(): Promise<unknown> {
    return this.#restored;
  }

  /** Takes over what an earlier program left behind. */
  restore(adviseOn: (record: SessionRecord) => SessionInfo['adviseOn']): Promise<readonly Session[]> {
    const restored = this.#restore(adviseOn);
    this.#restored = restored.catch(() => undefined);
    return restored;
  }

  async start(request: SessionRequest): Promise<Result<Session, StartError>> {
    const { tty, environment } = request;
    const record = this.#recordOf(request);
    // Loaded on first use: the emulator would cost every start of the editor some ten milliseconds.
    const screens = tty && (await import('./screen.ts'));
    const started = await this.#backend.start({
      argv: request.argv,
      cwd: request.cwd,
      env: request.env,
      ...(request.inheritsEnvironment !== undefined && { inheritsEnvironment: request.inheritsEnvironment }),
      policy: request.policy,
      ...(tty !== undefined && { tty }),
      ...(request.door !== undefined && { door: request.door }),
      ...(environment !== undefined && { environment }),
      label: writeRecord(record),
    });
    this.#reserved.delete(record.id);
    if (!started.ok) {
      return fail(started.error);
    }
    this.#prune();
    const session = new Session(started.value, {
      record,
      ...(request.adviseOn && { adviseOn: request.adviseOn }),
      ...(tty && screens && { createScreen: (options) => new screens.Screen({ ...options, size: tty }) }),
    });
    this.#add(session);
    return ok(session);
  }

  /** Hides a finished session from the tools: its last output was returned. */
  forget(id: number): void {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      return;
    }
    this.#sessions.delete(id);
    session.note({ isForgotten: true });
    this.#archive(session);
    this.#didChange.fire();
  }

  #archive(session: Session): void {
    this.#archived.push(session);
    while (this.#archived.length > maxArchived) {
      this.#archived.shift()?.dispose();
    }
  }

  async dispose(): Promise<void> {
    const ending = this.known().filter(({ isSurvivor }) => !isSurvivor);
    await Promise.all(ending.map((session) => session.terminate()));
    for (const session of this.list()) {
      session.dispose();
    }
    this.#sessions.clear();
    this.#archived = [];
    this.#didChange.dispose();
  }

  #add(session: Session): void {
    this.#sessions.set(session.id, session);
    session.onDidChangeState(() => {
      // Nobody polls what a person started, so it is archived as soon as it ends.
      if (session.owner === 'person') {
        this.forget(session.id);
      }
      this.#didChange.fire();
    });
    this.#didChange.fire();
  }

  async #restore(adviseOn: (record: SessionRecord) => SessionInfo['adviseOn']): Promise<readonly Session[]> {
    const found = (await this.#backend.found?.()) ?? [];
    if (found.length === 0) {
      return [];
    }
    const { Screen } = await import('./screen.ts');
    // What another machine says it has must cost this one nothing: neither its numbers nor its sessions.
    const ownFirst = [...found.filter(isOwn), ...found.filter((one) => !isOwn(one))];
    const restored = ownFirst.flatMap(({ process, retained, label, environment = localName }) => {
      const known = readRecord(label, environment);
      if (known === undefined) {
        // Nobody could ever name it.
        void process.terminate();
        return [];
      }
      const record = this.#isFree(known.id) ? known : { ...known, id: this.#freeId() };
      this.#reserved.add(record.id);
      const { size } = record;
      const advice = adviseOn(record);
      const session = new Session(process, {
        record,
        retained,
        ...(advice && { adviseOn: advice }),
        ...(size && { createScreen: (options) => new Screen({ ...options, size }) }),
      });
      if (record !== known) {
        session.note({});
      }
      return [session];
    });
    // When there are too many, those of other machines count as the longest unused.
    for (const session of [...restored.filter((one) => !isOwn(one)), ...restored.filter(isOwn)]) {
      this.#reserved.delete(session.id);
      if (session.record.isForgotten) {
        this.#archive(session);
      } else {
        this.#add(session);
      }
    }
    return restored;
  }

  #recordOf(request: SessionRequest): SessionRecord {
    const { commandLine, cwd, root, policy, owner, tty } = request;
    return {
      version: 1,
      id: this.#freeId(),
      ...{ commandLine, cwd, root, policy, owner },
      environment: request.environment ?? localName,
      audit: request.audit ?? randomUUID(),
      startedAt: Date.now(),
      ...(tty !== undefined && { size: tty }),
      answered: { seq: 0, heldBack: '' },
      isShown: false,
      isForgotten: false,
    };
  }

  /** Exited sessions go first, then the least recently used, which is killed. */
  #prune(): void {
    if (this.#sessions.size < maxSessions) {
      return;
    }
    const candidates = this.known().slice(0, this.#sessions.size - protectedSessions);
    const victim = candidates.find((session) => session.isClosed) ?? candidates[0];
    if (victim !== undefined) {
      this.forget(victim.id);
      void victim.terminate();
    }
  }

  #freeId(): number {
    for (;;) {
      const id = randomInt(firstId, lastId + 1);
      if (this.#isFree(id)) {
        this.#reserved.add(id);
        return id;
      }
    }
  }

  #isFree(id: number): boolean {
    return this.get(id) === undefined && !this.#reserved.has(id);
  }
}

function isOwn({ environment = localName }: { readonly environment?: string }): boolean {
  return environment === localName;
}
