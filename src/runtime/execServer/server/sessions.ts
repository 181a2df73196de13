import { errorCodes, RpcError } from '../protocol/errors.ts';
import type { ServedConnection } from './service.ts';
import type { Session } from './session.ts';

/** Without a client, at once: each may hold processes and their output. */
const mostDetached = 256;

/** All sessions of a server. One without a client lives on for a while, for its client to come back. */
export class Sessions {
  readonly #create: () => Session;
  readonly #detachedMs: number;
  readonly #onChange: () => void;
  readonly #sessions = new Map<string, Session>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(create: () => Session, detachedMs: number, onChange: () => void) {
    this.#create = create;
    this.#detachedMs = detachedMs;
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** A new session, or the one to resume. Throws an `RpcError` when there is no such, or another client has it. */
  open(client: ServedConnection, resumeId: string | undefined): Session {
    const session = resumeId === undefined ? this.#create() : this.#resumable(resumeId);
    clearTimeout(this.#timers.get(session.id));
    this.#timers.delete(session.id);
    this.#sessions.set(session.id, session);
    session.attach(client);
    this.#onChange();
    return session;
  }

  /** Its client is gone. */
  detach(session: Session): void {
    session.detach();
    this.#timers.set(
      session.id,
      setTimeout(() => this.#giveUp(session.id), this.#detachedMs),
    );
    const [longest] = this.#timers.keys();
    if (this.#timers.size > mostDetached && longest !== undefined) {
      this.#giveUp(longest);
    }
  }

  #giveUp(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    void session?.processes.end();
    this.#onChange();
  }

  /** Kills what runs in all of them. */
  async end(): Promise<void> {
    this.#timers.forEach((timer) => clearTimeout(timer));
    await Promise.all([...this.#sessions.values()].map(({ processes }) => processes.end()));
  }

  #resumable(id: string): Session {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      throw new RpcError(errorCodes.invalidRequest, `unknown session id ${id}`);
    }
    if (session.isAttached) {
      throw new RpcError(errorCodes.sessionAttached, `session ${id} is attached to another connection`);
    }
    return session;
  }
}
