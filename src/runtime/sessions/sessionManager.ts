import { randomInt } from 'node:crypto';
import { Emitter } from '../../base/event.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { ExecBackend, StartError, StartParams } from '../exec/execBackend.ts';
import type { SessionInfo } from './session.ts';
import { Session } from './session.ts';

/** As in the reference: so many sessions at once; opening another prunes, but never the most recently used. */
const maxSessions = 64;
const protectedSessions = 8;
/** Finished sessions that the model has seen to their end stay viewable for a person, up to this many. */
const maxArchived = 16;
const firstId = 1_000;
const lastId = 99_999;

export type SessionRequest = Omit<SessionInfo, 'id' | 'createScreen'> &
  Pick<StartParams, 'argv' | 'env' | 'tty' | 'door'>;

/** Owns every session: numbers them, bounds their count, ends them all when disposed. */
export class SessionManager {
  readonly #backend: ExecBackend;
  readonly #didChange = new Emitter<void>();
  readonly onDidChange = this.#didChange.event;
  /** Sessions that the tools know, least recently used first. */
  readonly #sessions = new Map<number, Session>();
  #archived: Session[] = [];

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

  async start(request: SessionRequest): Promise<Result<Session, StartError>> {
    const { tty } = request;
    // Loaded on first use: the emulator would cost every start of the editor some ten milliseconds.
    const screens = tty && (await import('./screen.ts'));
    const started = await this.#backend.start({
      argv: request.argv,
      cwd: request.cwd,
      env: request.env,
      policy: request.policy,
      ...(tty !== undefined && { tty }),
      ...(request.door !== undefined && { door: request.door }),
    });
    if (!started.ok) {
      return fail(started.error);
    }
    this.#prune();
    const session = new Session(started.value, {
      ...request,
      id: this.#freeId(),
      ...(tty && screens && { createScreen: (options) => new screens.Screen({ ...options, size: tty }) }),
    });
    this.#sessions.set(session.id, session);
    session.onDidChangeState(() => {
      // Nobody polls what a person started, so it is archived as soon as it ends.
      if (session.owner === 'person') {
        this.forget(session.id);
      }
      this.#didChange.fire();
    });
    this.#didChange.fire();
    return ok(session);
  }

  /** Hides a finished session from the tools: its last output was returned. */
  forget(id: number): void {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      return;
    }
    this.#sessions.delete(id);
    this.#archived.push(session);
    while (this.#archived.length > maxArchived) {
      this.#archived.shift()?.dispose();
    }
    this.#didChange.fire();
  }

  async dispose(): Promise<void> {
    await Promise.all(this.known().map((session) => session.terminate()));
    for (const session of this.list()) {
      session.dispose();
    }
    this.#sessions.clear();
    this.#archived = [];
    this.#didChange.dispose();
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
      if (this.get(id) === undefined) {
        return id;
      }
    }
  }
}
