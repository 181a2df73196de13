import { mkdir, readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Log } from '../../base/log.ts';
import { BlobStore } from '../checkpoint/blobStore.ts';
import { writeAtomically } from '../checkpoint/writeAtomically.ts';
import type { Blobs } from '../plan/storedPlan.ts';
import type { Review } from './review.ts';
import { blobsOf, restoreReview, storeReview, storedReviewSchema } from './storedReview.ts';

/**
 * Reviews in a folder of the extension, one folder each, so that they outlive the window. Contents are written before
 * the record that names them: a crash leaves the review as it was, or as it was to be.
 */
export class ReviewStore {
  readonly #folder: string;
  readonly #log: Log;
  /** One write at a time for each review, and for the notes. */
  readonly #queues = new Map<string, Promise<void>>();

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** The reviews that wait, oldest first. One that cannot be read is logged and left where it is. */
  async load(): Promise<readonly Review[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const reviews: Review[] = [];
    for (const item of await readdir(this.#folder, { withFileTypes: true })) {
      const review = item.isDirectory() ? await this.#load(item.name) : undefined;
      if (review !== undefined) {
        reviews.push(review);
      }
    }
    return reviews.sort((a, b) => a.createdAt - b.createdAt);
  }

  save(review: Review): Promise<void> {
    return this.#inTurn(review.id, async () => {
      const { stored, blobs } = storeReview(review);
      const startedAt = Date.now();
      const store = this.#blobs(review.id);
      for (const [name, bytes] of blobs) {
        await store.write(name, bytes);
      }
      await writeAtomically(this.#record(review.id), Buffer.from(JSON.stringify(stored)));
      await store.removeExcept(new Set(blobs.keys()), startedAt);
    });
  }

  remove(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      // In this order: contents without a record are no review.
      await rm(this.#record(id), { force: true });
      await rm(join(this.#folder, id), { recursive: true, force: true });
    });
  }

  /** Keeps a sentence for the next call of a patch. */
  addNote(note: string): Promise<void> {
    return this.#inTurn(notesName, async () => this.#writeNotes([...(await this.#readNotes()), note]));
  }

  /** Gives the kept sentences once. */
  async takeNotes(): Promise<readonly string[]> {
    let notes: readonly string[] = [];
    await this.#inTurn(notesName, async () => {
      notes = await this.#readNotes();
      if (notes.length > 0) {
        await this.#writeNotes([]);
      }
    });
    return notes;
  }

  async #load(id: string): Promise<Review | undefined> {
    const path = this.#record(id);
    try {
      const text = await readFile(path, 'utf8').catch(orUndefined);
      if (text === undefined) {
        await this.#removeLeftover(join(this.#folder, id));
        return undefined;
      }
      const stored = storedReviewSchema.parse(JSON.parse(text));
      const blobs: Blobs = new Map();
      for (const name of blobsOf(stored)) {
        blobs.set(name, await this.#blobs(id).read(name));
      }
      return restoreReview(stored, blobs);
    } catch (error) {
      this.#log.error(`The patch review in ${path} cannot be read and is left out: ${String(error)}`);
      return undefined;
    }
  }

  /** What lies without a record was being written or removed in a crash; or is right now, in another window. */
  async #removeLeftover(path: string): Promise<void> {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > hour) {
      await rm(path, { recursive: true, force: true });
    }
  }

  async #readNotes(): Promise<readonly string[]> {
    const text = await readFile(join(this.#folder, notesName), 'utf8').catch(orUndefined);
    return text === undefined ? [] : z.array(z.string()).parse(JSON.parse(text));
  }

  #writeNotes(notes: readonly string[]): Promise<void> {
    return writeAtomically(join(this.#folder, notesName), Buffer.from(JSON.stringify(notes)));
  }

  #record(id: string): string {
    return join(this.#folder, id, 'review.json');
  }

  #blobs(id: string): BlobStore {
    return new BlobStore(join(this.#folder, id, 'blobs'));
  }

  async #inTurn(name: string, action: () => Promise<void>): Promise<void> {
    const turn = (this.#queues.get(name) ?? Promise.resolve()).then(action);
    const settled = turn.catch(() => {});
    this.#queues.set(name, settled);
    try {
      await turn;
    } finally {
      if (this.#queues.get(name) === settled) {
        this.#queues.delete(name);
      }
    }
  }
}

const notesName = 'notes.json';
const hour = 60 * 60_000;

function orUndefined(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') {
    throw error;
  }
  return undefined;
}
