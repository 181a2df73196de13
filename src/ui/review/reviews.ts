import { randomUUID } from 'node:crypto';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Event } from '../../base/event.ts';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import type { PatchError } from '../../patch/patchError.ts';
import type { AppliedPatch, PatchRequest, ReviewOutcome } from '../../patch/patchHost.ts';
import type { Plan } from '../../patch/plan/plan.ts';
import { carryOver, proposesTheSame } from '../../patch/review/carryOver.ts';
import { concludeReview } from '../../patch/review/concludeReview.ts';
import { outcomeNote } from '../../patch/review/outcomeNote.ts';
import { planAnew } from '../../patch/review/planAnew.ts';
import type { PlanningTools, ReviewPlace } from '../../patch/review/planAnew.ts';
import { accept, comment, createReview, isDecided, mapFile, reject } from '../../patch/review/review.ts';
import type { Review, ReviewTarget } from '../../patch/review/review.ts';
import { decisionOf, editRight, resultPath } from '../../patch/review/reviewFile.ts';
import type { SavedReviews } from './savedReviews.ts';

export interface ReviewsOptions extends PlanningTools {
  /** Applies what a person accepted: the refusals of the request are allowed, and nothing beyond them. */
  readonly apply: (request: PatchRequest) => Promise<Result<AppliedPatch, PatchError>>;
  /** Where a review's patch would be applied now, and under which policy; or why it cannot be. */
  readonly placeOf: (review: Pick<Review, 'root' | 'machine'>) => Promise<Result<ReviewPlace, PatchError>>;
  readonly saved: SavedReviews;
  readonly log: Log;
}

/**
 * A decision that was not carried out. `revised`: the files changed, and with them what would be applied; `obsolete`:
 * the patch no longer applies; `failed`: applying it failed.
 */
export interface ReviewNotice {
  readonly kind: 'revised' | 'obsolete' | 'failed';
  readonly review: Review;
}

/** The patches that wait for a person. Every decision is made on the files, and under the policy, of that moment. */
export class Reviews implements Disposable {
  readonly #options: ReviewsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #didOpen = new Emitter<Review>();
  readonly #didChange = new Emitter<void>();
  readonly #didClose = new Emitter<Review>();
  readonly #didApply = new Emitter<{ readonly review: Review; readonly done: Promise<unknown> }>();
  readonly #didNotice = new Emitter<ReviewNotice>();

  /** Resolves when the reviews of former windows are there. */
  readonly ready: Promise<void>;
  /** A tool call opened one. */
  readonly onDidOpen: Event<Review> = this.#didOpen.event;
  readonly onDidChange: Event<void> = this.#didChange.event;
  /** It was decided or dismissed. */
  readonly onDidClose: Event<Review> = this.#didClose.event;
  /** Applying began; `done` settles when it ended. */
  readonly onDidApply: Event<{ readonly review: Review; readonly done: Promise<unknown> }> =
    this.#didApply.event;
  readonly onDidNotice: Event<ReviewNotice> = this.#didNotice.event;

  constructor(options: ReviewsOptions) {
    this.#options = options;
    this.ready = this.#load();
  }

  /** Oldest first. */
  list(): readonly Review[] {
    return [...this.#entries.values()].map(({ review }) => review);
  }

  get(id: string): Review | undefined {
    return this.#entries.get(id)?.review;
  }

  /** Whether a tool call still waits for the outcome. */
  hasCaller(id: string): boolean {
    return this.#entries.get(id)?.caller !== undefined;
  }

  /** Lets the person decide. When the signal fires first, the review goes on without its caller. */
  async open(request: PatchRequest, signal: AbortSignal): Promise<ReviewOutcome> {
    await this.ready;
    if (signal.aborted) {
      return { kind: 'abandoned' };
    }
    const review = createReview(request, { id: randomUUID(), createdAt: Date.now() });
    const { promise: outcome, resolve: caller } = Promise.withResolvers<ReviewOutcome>();
    const entry: Entry = { ...newEntry(review), caller };
    this.#entries.set(review.id, entry);
    const abandon = (): void => {
      this.#settle(review.id, { kind: 'abandoned' });
      this.#didChange.fire();
    };
    signal.addEventListener('abort', abandon, { once: true });
    this.#options.log.info(`patch review ${review.id} opened: ${review.title}`);
    this.#options.saved.save(entry.review);
    this.#didOpen.fire(review);
    this.#didChange.fire();
    try {
      return await outcome;
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  }

  /** Accepts the target; a patch of which nothing waits any more is applied. */
  accept(target: ReviewTarget): Promise<void> {
    return this.#decide(target.reviewId, (review) => accept(review, target));
  }

  /** Rejects the target. Rejecting all of an obsolete review closes it. */
  async reject(target: ReviewTarget, words = ''): Promise<void> {
    const entry = this.#entries.get(target.reviewId);
    if (entry?.review.state.kind === 'obsolete' && target.file === undefined) {
      await this.#close(entry);
      return;
    }
    await this.#decide(target.reviewId, (review) =>
      reject(words === '' ? review : comment(review, target, words), target),
    );
  }

  comment(target: ReviewTarget, words: string): void {
    this.#update(target.reviewId, (review) => comment(review, target, words));
  }

  /** Takes over what the person made of a right side. */
  edit({ reviewId, file }: ReviewTarget, text: string): void {
    this.#update(reviewId, (review) => mapFile(review, file, (item) => editRight(item, text)));
  }

  /** Plans the patches that touch one of these paths of this machine anew. */
  async refresh(paths: ReadonlySet<string>): Promise<void> {
    const touched = [...this.#entries.values()].filter(
      ({ review: { machine, plan } }) =>
        machine === undefined &&
        plan.changes.some((change) => paths.has(change.path) || paths.has(resultPath(change))),
    );
    for (const entry of touched) {
      await this.#inTurn(entry, async () => {
        const place = await this.#options.placeOf(entry.review);
        if (place.ok && entry.review.state.kind === 'waiting' && this.#isOpen(entry)) {
          await this.#replan(entry, place.value);
        }
      });
    }
  }

  /** What became of reviews whose calls had ended, once. */
  takeNotes(): Promise<readonly string[]> {
    return this.#options.saved.takeNotes();
  }

  /** Leaves the reviews in the store for the next window; nobody is there to hear of the outcome any more. */
  dispose(): void {
    for (const id of this.#entries.keys()) {
      this.#settle(id, { kind: 'abandoned' });
    }
    for (const emitter of [this.#didOpen, this.#didChange, this.#didClose, this.#didApply, this.#didNotice]) {
      emitter.dispose();
    }
  }

  async #load(): Promise<void> {
    for (const review of await this.#options.saved.load()) {
      this.#entries.set(review.id, newEntry(review));
    }
    this.#didChange.fire();
  }

  async #decide(id: string, change: (review: Review) => Review): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      return;
    }
    await this.#inTurn(entry, async () => {
      const seen = entry.review;
      if (seen.state.kind !== 'waiting' || !this.#isOpen(entry)) {
        return;
      }
      if (seen.machine !== undefined && rejectsAll(change(seen))) {
        // Nobody has to be asked, so it goes when that machine is gone for good, too.
        this.#set(entry, change({ ...seen, state: { kind: 'waiting' } }));
        await this.#finish(entry, undefined);
        return;
      }
      const place = await this.#options.placeOf(seen);
      if (!place.ok) {
        this.#fail(entry, place.error);
        return;
      }
      if (!(await this.#replan(entry, place.value))) {
        if (entry.review.state.kind === 'obsolete') {
          this.#didNotice.fire({ kind: 'obsolete', review: entry.review });
        }
        return;
      }
      if (!proposesTheSame(seen, entry.review)) {
        this.#didNotice.fire({ kind: 'revised', review: entry.review });
        return;
      }
      this.#set(entry, change({ ...entry.review, state: { kind: 'waiting' } }));
      if (isDecided(entry.review)) {
        await this.#finish(entry, place.value);
      }
    });
  }

  /** Takes over what the person did to the patch on the files of now; false when that is not possible. */
  async #replan(entry: Entry, place: ReviewPlace): Promise<boolean> {
    const planned = await planAnew(entry.review, place, this.#options);
    if (!planned.ok && planned.error.kind === 'machine') {
      this.#fail(entry, planned.error);
      return false;
    }
    // Only now, because the person may have gone on typing meanwhile.
    const carried = planned.ok ? carryOver(entry.review, planned.value) : planned;
    if (carried.ok) {
      this.#set(entry, carried.value);
    } else {
      this.#becomeObsolete(entry, carried.error);
    }
    return carried.ok;
  }

  /** @param place Needed when something is to be applied. */
  async #finish(entry: Entry, place: ReviewPlace | undefined): Promise<void> {
    const conclusion = concludeReview(entry.review);
    if (!conclusion.ok) {
      this.#fail(entry, conclusion.error);
      return;
    }
    const { plan, files } = conclusion.value;
    const isNothing = place === undefined || plan.changes.length === 0;
    const applied = isNothing ? undefined : await this.#apply(entry, plan, place);
    if (applied?.ok === false) {
      if (applied.error.kind === 'stale' && entry.review.text === undefined) {
        this.#becomeObsolete(entry, applied.error);
        this.#didNotice.fire({ kind: 'obsolete', review: entry.review });
      } else {
        this.#fail(entry, applied.error);
      }
      return;
    }
    const { comment: words, id, text } = entry.review;
    const isOfModel = text !== undefined;
    const takesNotes = isOfModel && this.hasCaller(id);
    const notes = [...(applied?.value.notes ?? []), ...(takesNotes ? await this.takeNotes() : [])];
    const outcome = { kind: 'decided', files, comment: words, notes } as const;
    if (!this.#settle(id, outcome) && isOfModel) {
      await this.#options.saved.addNote(outcomeNote(entry.review.title, outcome));
    }
    await this.#close(entry);
  }

  async #apply(
    entry: Entry,
    plan: Plan,
    { policy, site }: ReviewPlace,
  ): Promise<Result<AppliedPatch, PatchError>> {
    const { review } = entry;
    const { title, text, cwd, refusals } = review;
    const paths = new Set(plan.changes.flatMap((change) => [change.path, resultPath(change)]));
    const accepted = refusals.filter(({ path }) => paths.has(path));
    entry.isApplying = true;
    try {
      const done = this.#options.apply({ title, text, cwd, policy, site, plan, refusals: accepted });
      this.#didApply.fire({ review, done });
      return await done;
    } finally {
      entry.isApplying = false;
    }
  }

  #becomeObsolete(entry: Entry, error: PatchError): void {
    this.#set(entry, { ...entry.review, state: { kind: 'obsolete', error } });
    this.#settle(entry.review.id, { kind: 'obsolete', error });
  }

  #fail(entry: Entry, error: PatchError): void {
    this.#set(entry, { ...entry.review, state: { kind: 'waiting', failure: error } });
    const wasTold = this.#settle(entry.review.id, { kind: 'failed', error });
    // Who restores files tells the person itself.
    if (!wasTold || entry.review.text !== undefined) {
      this.#didNotice.fire({ kind: 'failed', review: entry.review });
    }
  }

  async #close(entry: Entry): Promise<void> {
    const { review } = entry;
    this.#entries.delete(review.id);
    this.#options.log.info(`patch review ${review.id} closed`);
    await this.#options.saved.remove(review.id);
    this.#didClose.fire(review);
    this.#didChange.fire();
  }

  #isOpen(entry: Entry): boolean {
    return this.#entries.get(entry.review.id) === entry;
  }

  /** Answers the waiting call; false when there is none. */
  #settle(id: string, outcome: ReviewOutcome): boolean {
    const entry = this.#entries.get(id);
    if (entry?.caller === undefined) {
      return false;
    }
    entry.caller(outcome);
    entry.caller = undefined;
    return true;
  }

  #update(id: string, change: (review: Review) => Review): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined && !entry.isApplying) {
      this.#set(entry, change(entry.review));
    }
  }

  #set(entry: Entry, review: Review): void {
    entry.review = review;
    this.#options.saved.save(entry.review);
    this.#didChange.fire();
  }

  /** One decision or new plan at a time. */
  #inTurn(entry: Entry, action: () => Promise<void>): Promise<void> {
    const turn = entry.turn.then(action);
    entry.turn = turn.catch(() => {});
    return turn;
  }
}

interface Entry {
  review: Review;
  /** Answers the tool call that waits. */
  caller?: ((outcome: ReviewOutcome) => void) | undefined;
  isApplying: boolean;
  /** Ends with the last decision or plan that was begun. */
  turn: Promise<void>;
}

function newEntry(review: Review): Entry {
  return { review, isApplying: false, turn: Promise.resolve() };
}

/** Whether nothing of it would be applied. */
function rejectsAll({ files }: Review): boolean {
  return files.every((file) => decisionOf(file) === 'rejected');
}
