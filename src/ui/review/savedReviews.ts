import { setTimeout } from 'node:timers/promises';
import type { Log } from '../../base/log.ts';
import type { Review } from '../../patch/review/review.ts';
import type { ReviewStore } from '../../patch/review/reviewStore.ts';

/** Typing changes a review with every key, and a save waits for the disk itself. */
const saveIntervalMs = 250;

/** Keeps reviews in the store without anybody waiting for it: a full disk must not keep a person from deciding. */
export class SavedReviews {
  readonly #store: Pick<ReviewStore, 'load' | 'save' | 'remove' | 'addNote' | 'takeNotes'>;
  readonly #log: Log;
  /** Of the reviews that are being written. */
  readonly #newest = new Map<string, Review>();

  constructor(store: Pick<ReviewStore, 'load' | 'save' | 'remove' | 'addNote' | 'takeNotes'>, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  async load(): Promise<readonly Review[]> {
    return (await this.#attempt(this.#store.load())) ?? [];
  }

  /** Writes the newest state at once; what follows soon after is written from time to time. */
  save(review: Review): void {
    const isWriting = this.#newest.has(review.id);
    this.#newest.set(review.id, review);
    if (!isWriting) {
      void this.#write(review.id);
    }
  }

  async remove(id: string): Promise<void> {
    this.#newest.delete(id);
    await this.#attempt(this.#store.remove(id));
  }

  async addNote(note: string): Promise<void> {
    await this.#attempt(this.#store.addNote(note));
  }

  async takeNotes(): Promise<readonly string[]> {
    return (await this.#attempt(this.#store.takeNotes())) ?? [];
  }

  async #write(id: string): Promise<void> {
    let written: Review | undefined;
    for (;;) {
      const review = this.#newest.get(id);
      if (review === undefined || review === written) {
        this.#newest.delete(id);
        return;
      }
      await this.#attempt(this.#store.save(review));
      written = review;
      await setTimeout(saveIntervalMs);
    }
  }

  async #attempt<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      this.#log.error(`Patch reviews cannot be read or written: ${String(error)}`);
      return undefined;
    }
  }
}
