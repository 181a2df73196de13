import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Answer, Approval, ApprovalRequest } from './approval.ts';
import type { ApprovalFile, KeptAnswer } from './approvalFile.ts';
import type { GrantStore } from './grantStore.ts';
import { keepGrants } from './keepGrants.ts';

/** How long an answer that was given to an interrupted question waits for the call that asks it again. */
const keptForMs = 30 * 60_000;
/** A reload looks like a caller that gives up: it has ended the process before this is over. */
const reloadMs = 2_000;

export interface ApprovalsOptions {
  readonly grants: GrantStore;
  /** How long a question waits for a person, in milliseconds. */
  readonly expiresAfterMs: () => number;
  /** Keeps questions over a reload; without it they end with the process. */
  readonly file?: ApprovalFile;
}

/** The questions that wait for a person. Each is answered once: by a person, by its expiry, or by its caller's end. */
export class Approvals implements Disposable {
  readonly #options: ApprovalsOptions;
  readonly #didChange = new Emitter<void>();
  readonly #didAsk = new Emitter<Approval>();
  /** A question came, or one is answered. */
  readonly onDidChange = this.#didChange.event;
  readonly onDidAsk = this.#didAsk.event;
  readonly #waiting = new Map<string, Waiting>();
  readonly #remembered = new Set<string>();
  #kept: readonly KeptAnswer[];
  #saving: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    const { approvals, answers } = options.file?.read() ?? { approvals: [], answers: [] };
    this.#kept = answers.filter(({ until }) => until > Date.now());
    for (const approval of approvals) {
      this.#hold({ ...approval, state: 'interrupted' }, approval.expiresAt + keptForMs, () => {});
    }
  }

  /** Oldest first. */
  list(): readonly Approval[] {
    return [...this.#waiting.values()].map(({ approval }) => approval);
  }

  /** Whether a person has said that exactly this is not to be asked again in this session. */
  remembers(scope: string): boolean {
    return this.#remembered.has(scope);
  }

  /** Takes a person's yes for exactly this as said for the rest of the session. */
  remember(scope: string): void {
    this.#remembered.add(scope);
  }

  /**
   * Asks, and waits for the answer. A kept answer to the same question, given after a reload, is used up at once.
   * When nobody listens there is nobody to ask.
   */
  async ask(request: ApprovalRequest, signal: AbortSignal): Promise<Answer> {
    const kept = this.#useKept(request);
    if (kept !== undefined) {
      return kept;
    }
    if (!this.#didAsk.hasListeners || this.#isDisposed) {
      return { kind: 'deny', by: 'nobody' };
    }
    if (signal.aborted) {
      return { kind: 'deny', by: 'gone' };
    }
    this.#withdrawInterrupted(request.scope);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const askedAt = Date.now();
    const approval: Approval = {
      ...request,
      id: randomUUID(),
      askedAt,
      expiresAt: askedAt + this.#options.expiresAfterMs(),
      state: 'waiting',
    };
    const giveUp = (): void => this.#settle(approval.id, { kind: 'deny', by: 'gone' }, reloadMs);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#hold(approval, approval.expiresAt, resolve);
    this.#save();
    this.#didChange.fire();
    this.#didAsk.fire(approval);
    const answer = await promise;
    signal.removeEventListener('abort', giveUp);
    return answer;
  }

  /** A person's answer; false when the question is answered or gone already. When it cannot be kept, it waits on. */
  async answer(id: string, answer: Answer): Promise<boolean> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      return false;
    }
    const { approval } = waiting;
    // Out of the list first: of two answers at once only one may count.
    this.#forget(id);
    try {
      await this.#carryOut(approval, answer);
    } catch (error) {
      this.#hold(approval, waiting.until, waiting.resolve);
      this.#didChange.fire();
      throw error;
    }
    if (approval.state === 'interrupted') {
      const now = Date.now();
      this.#kept = [
        ...this.#kept.filter(({ until }) => until > now),
        { scope: approval.scope, answer, until: now + keptForMs },
      ];
    }
    this.#save();
    waiting.resolve(answer);
    this.#didChange.fire();
    return true;
  }

  /** Calls that wait get a no; after a reload their questions are there again, as interrupted ones. */
  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#saving);
    for (const { approval, timer, resolve } of [...this.#waiting.values()]) {
      clearTimeout(timer);
      this.#waiting.delete(approval.id);
      resolve({ kind: 'deny', by: 'gone' });
    }
    this.#didChange.dispose();
    this.#didAsk.dispose();
  }

  async #carryOut({ root, commandLine, scope }: Approval, answer: Answer): Promise<void> {
    if (answer.kind === 'deny') {
      return;
    }
    if (answer.isRemembered === true) {
      this.#remembered.add(scope);
    }
    await keepGrants(this.#options.grants, answer, { root, because: commandLine });
  }

  #hold(approval: Approval, until: number, resolve: (answer: Answer) => void): void {
    const timer = setTimeout(
      () => this.#settle(approval.id, { kind: 'deny', by: 'expired' }),
      Math.max(0, until - Date.now()),
    );
    timer.unref();
    this.#waiting.set(approval.id, { approval, until, timer, resolve });
  }

  #settle(id: string, answer: Answer, saveAfterMs = 0): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      return;
    }
    this.#forget(id);
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save(), saveAfterMs);
    this.#saving.unref();
    waiting.resolve(answer);
    this.#didChange.fire();
  }

  #forget(id: string): void {
    clearTimeout(this.#waiting.get(id)?.timer);
    this.#waiting.delete(id);
  }

  /** The same question is there again, and alive. */
  #withdrawInterrupted(scope: string): void {
    for (const { approval } of [...this.#waiting.values()]) {
      if (approval.state === 'interrupted' && approval.scope === scope) {
        this.#forget(approval.id);
      }
    }
  }

  /** A yes that the question does not offer by now is none to it: what may be given can have become less. */
  #useKept({ scope, offers }: ApprovalRequest): Answer | undefined {
    const kept = this.#kept.find(
      ({ until, answer, ...entry }) =>
        entry.scope === scope &&
        until > Date.now() &&
        (answer.kind === 'deny' || offers.some((offer) => isDeepStrictEqual(offer.answer, answer))),
    );
    if (kept !== undefined) {
      this.#kept = this.#kept.filter((entry) => entry !== kept);
      this.#save();
    }
    return kept?.answer;
  }

  #save(): void {
    clearTimeout(this.#saving);
    this.#options.file?.write({ approvals: this.list(), answers: this.#kept });
  }
}

interface Waiting {
  readonly approval: Approval;
  readonly until: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answer: Answer) => void;
}
