import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import type { Log } from '../../base/log.ts';
import { writeAtomically } from '../../patch/checkpoint/writeAtomically.ts';
import { errorCode } from '../../sandbox/paths.ts';
import { wideningSchema } from '../../sandbox/policy/widening.ts';
import type { Answer, Approval } from './approval.ts';

/** A person's answer to a question whose call was gone: for the next call that asks the same. */
export interface KeptAnswer {
  readonly scope: string;
  readonly answer: Answer;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export interface StoredApprovals {
  readonly approvals: readonly Approval[];
  readonly answers: readonly KeptAnswer[];
}

const answer = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('allow'),
    widenings: z.array(wideningSchema),
    lasts: z.enum(['once', 'session', 'root']),
    forMs: z.number().exactOptional(),
    prefix: z.array(z.string()).exactOptional(),
    isRemembered: z.boolean().exactOptional(),
  }),
  z.object({
    kind: z.literal('deny'),
    by: z.enum(['person', 'expired', 'nobody', 'gone']),
    comment: z.string().exactOptional(),
  }),
]);

const storedSchema: z.ZodType<StoredApprovals> = z.object({
  approvals: z.array(
    z.object({
      id: z.string(),
      owner: z.string(),
      root: z.object({ name: z.string(), path: z.string(), environment: z.string().exactOptional() }),
      commandLine: z.string(),
      cwd: z.string(),
      title: z.string(),
      reason: z.string(),
      justification: z.string().exactOptional(),
      offers: z.array(z.object({ id: z.string(), label: z.string(), detail: z.string(), answer })),
      scope: z.string(),
      askedAt: z.number(),
      expiresAt: z.number(),
      state: z.enum(['waiting', 'interrupted']),
    }),
  ),
  answers: z.array(z.object({ scope: z.string(), answer, until: z.number() })),
});

const nothing: StoredApprovals = { approvals: [], answers: [] };

/** The questions of a window in a file of the extension, which no command may write. */
export class ApprovalFile {
  readonly #path: string;
  readonly #log: Log;
  #writing = Promise.resolve();
  #next: StoredApprovals | undefined;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }

  read(): StoredApprovals {
    try {
      return storedSchema.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') {
        this.#log.warn(`questions from before the reload are lost: ${(error as Error).message}`);
      }
      return nothing;
    }
  }

  /** Writes in the background; of several states in a row only the last one matters. */
  write(stored: StoredApprovals): void {
    if (this.#next !== undefined) {
      this.#next = stored;
      return;
    }
    this.#next = stored;
    this.#writing = this.#writing.then(async () => {
      const bytes = Buffer.from(JSON.stringify(this.#next));
      this.#next = undefined;
      await writeAtomically(this.#path, bytes).catch((error: unknown) => {
        this.#log.error(`questions cannot be kept over a reload: ${(error as Error).message}`);
      });
    });
  }

  /** Resolves when everything is on the disk. */
  async flush(): Promise<void> {
    await this.#writing;
  }
}
