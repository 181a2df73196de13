import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import { uriOf } from '../../../protocol/fileUri.ts';
import type { ParamsOf, ResultOf } from '../../../protocol/methods.ts';
import type { Held } from '../held.ts';
import { holding, inFolder, placeIn } from '../held.ts';
import type { Judge } from '../judge.ts';
import { outgrown, walkBudget, walkMaximums } from '../limits.ts';
import { fileError, SystemError } from '../osErrors.ts';
import { firstByName, kindOf } from './listing.ts';

type Options = ParamsOf<'fs/walk'>['options'];
type Result = ResultOf<'fs/walk'>;

/**
 * Breadth first, by name within a folder; the start itself is not listed, and lists nothing if it is no folder. With an
 * answer of more bytes than `atMost` it is given up with the code {@link outgrown}.
 */
export async function walk(
  path: string,
  options: Options,
  judge: Judge,
  atMost: number = Infinity,
): Promise<Result> {
  requireInRange(options);
  const start = await holding(path, options.followDirectorySymlinks ? 'all' : 'folders', async (held) => {
    judge.read(held.path);
    return held.stats.isDirectory();
  });
  return start ? new Walk(options, judge, atMost).from(path) : { entries: [], errors: [], truncated: false };
}

interface Waiting {
  /** As it is named, through links. */
  readonly path: string;
  readonly depth: number;
  /** Canonical, where no link may have been followed. */
  readonly expected?: string;
}

class Walk {
  readonly #options: Options;
  readonly #judge: Judge;
  readonly #atMost: number;
  readonly #result: { entries: Result['entries']; errors: Result['errors'] } = { entries: [], errors: [] };
  readonly #visited = new Set<string>();
  #examined = 0;
  #bytes = 0;
  #answerBytes = 0;

  constructor(options: Options, judge: Judge, atMost: number) {
    this.#options = options;
    this.#judge = judge;
    this.#atMost = atMost;
  }

  async from(path: string): Promise<Result> {
    const waiting: Waiting[] = [{ path, depth: 0 }];
    let folders = 0;
    for (const next of waiting) {
      if (folders === this.#options.maxDirectories) {
        return { ...this.#result, truncated: true };
      }
      folders++;
      if (!(await this.#visit(next, waiting))) {
        return { ...this.#result, truncated: true };
      }
    }
    return { ...this.#result, truncated: false };
  }

  /** False when a limit was hit. */
  async #visit(place: Waiting, waiting: Waiting[]): Promise<boolean> {
    try {
      const links = this.#options.followDirectorySymlinks ? 'all' : 'folders';
      return await inFolder(place.path, links, (folder) => this.#read(folder, place, waiting));
    } catch (error) {
      if (error instanceof RpcError && error.code === outgrown) {
        throw error;
      }
      const { message } = fileError(error);
      this.#result.errors.push({ path: this.#uriOf(place.path, message), message });
      return this.#spend(place.path);
    }
  }

  async #read(folder: Held, place: Waiting, waiting: Waiting[]): Promise<boolean> {
    this.#judge.read(folder.path);
    if (place.expected !== undefined && folder.path !== place.expected) {
      throw new SystemError('ENOTDIR');
    }
    if (this.#visited.has(folder.path)) {
      return true;
    }
    this.#visited.add(folder.path);
    const left = this.#options.maxEntries - this.#examined;
    const fitting = Math.ceil(this.#atMost / bytesPerEntry);
    const listed = await firstByName(folder, Math.min(left, fitting) + 1);
    for (const entry of listed) {
      if (this.#examined === this.#options.maxEntries) {
        return false;
      }
      this.#examined++;
      const kind = await this.#kindOf(folder, entry);
      if (kind === undefined) {
        continue;
      }
      const path = join(place.path, entry.name);
      if (!this.#spend(path)) {
        return false;
      }
      this.#result.entries.push({ path: this.#uriOf(path), kind });
      const isPruned = this.#options.pruneHiddenDirectories && entry.name.startsWith('.');
      if (kind === 'directory' && !isPruned && place.depth < this.#options.maxDepth) {
        const expected = placeIn(folder, entry.name).path;
        waiting.push({
          path,
          depth: place.depth + 1,
          ...(!this.#options.followDirectorySymlinks && { expected }),
        });
      }
    }
    if (listed.length > fitting) {
      throw this.#outgrown();
    }
    return true;
  }

  async #kindOf(folder: Held, entry: Dirent): Promise<'file' | 'directory' | undefined> {
    const isLink = entry.isSymbolicLink();
    if (isLink && !this.#options.followDirectorySymlinks) {
      return undefined;
    }
    const kind = await kindOf(folder, entry, this.#judge);
    return kind === 'other' || (isLink && kind === 'file') ? undefined : kind;
  }

  #uriOf(path: string, message = ''): string {
    const uri = uriOf(path);
    this.#answerBytes += uri.length + message.length + bytesPerEntry;
    if (this.#answerBytes > this.#atMost) {
      throw this.#outgrown();
    }
    return uri;
  }

  #outgrown(): RpcError {
    return new RpcError(outgrown, `the walk finds more than ${this.#atMost} bytes`);
  }

  #spend(path: string): boolean {
    this.#bytes += Buffer.byteLength(path) + bytesPerEntry;
    return this.#bytes <= walkBudget;
  }
}

/** Around a path in the answer. */
const bytesPerEntry = 48;

function requireInRange({ maxDepth, maxDirectories, maxEntries }: Options): void {
  if (maxDirectories < 1 || maxEntries < 1) {
    throw new RpcError(errorCodes.invalidRequest, 'filesystem walk limits must be greater than zero');
  }
  const most = walkMaximums;
  if (maxDepth > most.maxDepth || maxDirectories > most.maxDirectories || maxEntries > most.maxEntries) {
    throw new RpcError(
      errorCodes.invalidRequest,
      `filesystem walk limits exceed maximums: depth=${most.maxDepth}, directories=${most.maxDirectories}, entries=${most.maxEntries}`,
    );
  }
}
