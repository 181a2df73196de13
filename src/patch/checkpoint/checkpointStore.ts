import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Event } from '../../base/event.ts';
import type { Log } from '../../base/log.ts';
import { missingFoldersAbove } from '../files/missingFolders.ts';
import type { PatchMachine } from '../patchSite.ts';
import type { Plan } from '../plan/plan.ts';
import { BlobStore } from './blobStore.ts';
import type { Checkpoint, CheckpointFile, FileState } from './checkpoint.ts';
import { CheckpointRecords } from './checkpointRecords.ts';
import { plannedStates } from './plannedStates.ts';
import type { ContentState } from './plannedStates.ts';

export interface CheckpointLimits {
  readonly maxCount: number;
  readonly maxAgeMs: number;
  /** Of the contents, each counted once however many checkpoints hold it. */
  readonly maxBytes: number;
}

const day = 24 * 60 * 60_000;
export const defaultCheckpointLimits: CheckpointLimits = {
  maxCount: 100,
  maxAgeMs: 30 * day,
  maxBytes: 256 * 1024 * 1024,
};

export interface CheckpointStoreOptions {
  /** Made when it is missing. Several editors may use the same. */
  readonly folder: string;
  readonly log: Log;
  readonly limits?: CheckpointLimits;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface NewCheckpoint {
  readonly title: string;
  readonly root: string;
  readonly cwd: string;
  readonly plan: Plan;
  /** The other machine that has the files, and which folders the plan makes there. */
  readonly elsewhere?: { readonly machine: PatchMachine; readonly newFolders: readonly string[] } | undefined;
}

/**
 * Checkpoints in a folder: contents by their hash, one record per checkpoint that names them. Everything is written
 * beside its place and renamed, contents before the record, so that whatever is interrupted leaves either a whole
 * checkpoint or none.
 */
export class CheckpointStore implements Disposable {
  readonly #blobs: BlobStore;
  readonly #records: CheckpointRecords;
  readonly #limits: CheckpointLimits;
  readonly #now: () => number;
  readonly #didChange = new Emitter<void>();
  #last: Promise<unknown> = Promise.resolve();
  #lastTime = 0;

  readonly onDidChange: Event<void> = this.#didChange.event;

  constructor({ folder, log, limits = defaultCheckpointLimits, now = Date.now }: CheckpointStoreOptions) {
    this.#blobs = new BlobStore(join(folder, 'blobs'));
    this.#records = new CheckpointRecords(join(folder, 'records'), log);
    this.#limits = limits;
    this.#now = now;
  }

  /** All of them, newest first. Records that cannot be read are left out, and logged. */
  async list(): Promise<readonly Checkpoint[]> {
    return (await this.#records.readAll()).checkpoints;
  }

  async get(id: string): Promise<Checkpoint | undefined> {
    return (await this.list()).find((checkpoint) => checkpoint.id === id);
  }

  /** Keeps what the files of a plan are now and what they become. Throws when that cannot be written. */
  record(options: NewCheckpoint): Promise<Checkpoint> {
    return this.#inTurn(async () => {
      const { elsewhere } = options;
      const files: CheckpointFile[] = [];
      for (const { path, name, before, after, movedFrom } of plannedStates(options.plan)) {
        files.push({
          path,
          name,
          before: await this.#keep(before),
          after: await this.#keep(after),
          ...(movedFrom === undefined ? {} : { movedFrom }),
        });
      }
      const time = Math.max(this.#now(), this.#lastTime + 1);
      this.#lastTime = time;
      const checkpoint: Checkpoint = {
        version: elsewhere === undefined ? 1 : 2,
        id: `${time}-${randomBytes(4).toString('hex')}`,
        createdAt: new Date(time).toISOString(),
        title: options.title,
        root: options.root,
        ...(elsewhere !== undefined && { machine: elsewhere.machine }),
        cwd: options.cwd,
        files,
        newFolders: [
          ...(elsewhere?.newFolders ?? (await missingFoldersAbove(files.map(({ path }) => path)))),
        ],
      };
      await this.#records.write(checkpoint);
      await this.#prune(checkpoint.id);
      return checkpoint;
    });
  }

  /** A kept content. Throws when it is gone or not what was kept. */
  content(hash: string): Promise<Buffer> {
    return this.#blobs.read(hash);
  }

  remove(id: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#records.remove(id);
      await this.#removeUnused();
    });
  }

  dispose(): void {
    this.#didChange.dispose();
  }

  async #keep(state: ContentState): Promise<FileState> {
    if (state.kind !== 'file') {
      return state;
    }
    const hash = hashOf(state.bytes);
    await this.#blobs.write(hash, state.bytes);
    const mode = state.mode === undefined ? {} : { mode: state.mode & 0o7777 };
    return { kind: 'file', hash, size: state.bytes.length, ...mode };
  }

  /** Removes what is too old, too many or too big, oldest first, and never the newest. */
  async #prune(newest: string): Promise<void> {
    const { checkpoints } = await this.#records.readAll();
    const kept = new Map<string, number>();
    let isFull = false;
    for (const [index, checkpoint] of checkpoints.entries()) {
      const isTooOld = this.#now() - Date.parse(checkpoint.createdAt) > this.#limits.maxAgeMs;
      const sizes = contentsOf(checkpoint).map(({ hash, size }) => [hash, size] as const);
      const total = sum(new Map([...kept, ...sizes]));
      isFull ||= total > this.#limits.maxBytes;
      if (checkpoint.id !== newest && (isTooOld || isFull || index >= this.#limits.maxCount)) {
        await this.#records.remove(checkpoint.id);
      } else {
        sizes.forEach(([hash, size]) => kept.set(hash, size));
      }
    }
    await this.#removeUnused();
  }

  async #removeUnused(): Promise<void> {
    const { checkpoints, hasUnreadable } = await this.#records.readAll(this.#now() - this.#limits.maxAgeMs);
    if (!hasUnreadable) {
      // What cannot be read may name contents, too: nothing is unused for sure until it has aged out.
      const used = new Set(checkpoints.flatMap(contentsOf).map(({ hash }) => hash));
      await this.#blobs.removeExcept(used, this.#now() - graceMs);
    }
  }

  /** One change at a time, in the order of the calls. */
  async #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(action, action);
    this.#last = turn.catch(() => undefined);
    const result = await turn;
    this.#didChange.fire();
    return result;
  }
}

/** Another editor may be about to write the record of contents that it has just written. */
const graceMs = 10 * 60_000;

/** The name of a content. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function contentsOf({ files }: Checkpoint): readonly { readonly hash: string; readonly size: number }[] {
  return files.flatMap(({ before, after }) =>
    [before, after].filter((state): state is FileState & { kind: 'file' } => state.kind === 'file'),
  );
}

function sum(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((total, size) => total + size, 0);
}
