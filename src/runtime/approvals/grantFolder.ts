import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Log } from '../../base/log.ts';
import { writeAtomically } from '../../patch/checkpoint/writeAtomically.ts';
import type { Grant } from './grant.ts';
import { grantableSchema } from './grant.ts';

const grantSchema = z.object({
  id: z.string(),
  root: z.string(),
  environment: z.string().exactOptional(),
  what: grantableSchema,
  lasts: z.literal('root'),
  until: z.number().optional(),
  grantedAt: z.number(),
  because: z.string(),
});

/** A folder that changed this recently may change once more without another time of change. */
const settledAfterMs = 100;

/**
 * Grants on the disk, a file each, in a folder of the extension that no command may write. Windows share it without a
 * lock: a grant is one new file, its end is one file less, and every window reads what is there now.
 */
export class GrantFolder {
  readonly #path: string;
  readonly #log: Log;
  #known: { readonly changedAt: number; readonly grants: readonly Grant[] } | undefined;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }

  list(): readonly Grant[] {
    const changedAt = this.#changedAt();
    if (this.#known?.changedAt === changedAt && Date.now() - changedAt > settledAfterMs) {
      return this.#known.grants;
    }
    const grants = this.#names().flatMap((name) => this.#read(name));
    this.#known = { changedAt, grants };
    return grants;
  }

  async add(grant: Grant): Promise<void> {
    await writeAtomically(this.#file(grant.id), Buffer.from(JSON.stringify(grant)));
  }

  async remove(id: string): Promise<void> {
    await rm(this.#file(id), { force: true });
  }

  #file(id: string): string {
    return join(this.#path, `${id}${suffix}`);
  }

  #changedAt(): number {
    try {
      return statSync(this.#path).mtimeMs;
    } catch {
      return 0;
    }
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#path).filter((name) => name.endsWith(suffix));
    } catch (error) {
      this.#log.warn(`grants cannot be read, so none is in force: ${(error as Error).message}`);
      return [];
    }
  }

  /** What is no grant opens nothing. */
  #read(name: string): readonly Grant[] {
    try {
      const { until, ...grant } = grantSchema.parse(JSON.parse(readFileSync(join(this.#path, name), 'utf8')));
      // The name is what a revocation removes.
      return `${grant.id}${suffix}` === name ? [until === undefined ? grant : { ...grant, until }] : [];
    } catch (error) {
      this.#log.warn(`the grant ${name} is ignored: ${(error as Error).message}`);
      return [];
    }
  }
}

const suffix = '.json';
