import { randomBytes } from 'node:crypto';
import { mkdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Emitter } from '../../base/event.ts';
import type { Event } from '../../base/event.ts';
import type { Log } from '../../base/log.ts';
import type { Audit } from './audit.ts';
import type { AuditEntry, AuditEvent, AuditNote } from './auditEntry.ts';
import { AuditFile } from './auditFile.ts';
import type { AuditLimits } from './auditFiles.ts';
import { auditFileName, defaultAuditLimits, pruneAuditFiles } from './auditFiles.ts';
import { presentable } from './presentable.ts';
import { processIdentity } from './processIdentity.ts';
import type { Redactor } from './redact.ts';
import { createRedactor } from './redact.ts';

/** What waits for a disk that does not take it; further entries are counted instead. */
const maxWaitingCharacters = 8 * 1024 * 1024;

export interface AuditLogOptions {
  /** Made when it is missing. Several processes may use the same. */
  readonly folder: string;
  /** Values of secrets that must not be in the log, by the names of their variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly limits?: AuditLimits;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The disk does not take the log. */
export interface AuditFailure {
  readonly message: string;
  readonly hint: string;
}

interface Waiting {
  readonly at: number;
  readonly event: AuditEvent | { kind: 'gap'; lost: number };
  readonly characters: number;
}

/**
 * Writes decisions and ends into files that only grow: one process, one file at a time, one write a line. Entries are
 * written in order, behind the back of whoever records them. What the disk does not take waits and is tried again
 * with the next one.
 */
export class AuditLog implements Audit {
  readonly #folder: string;
  readonly #redact: Redactor;
  readonly #log: Log;
  readonly #limits: AuditLimits;
  readonly #now: () => number;
  readonly #writer = randomBytes(6).toString('hex');
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>();
  #newest: Waiting | undefined;
  #waitingCharacters = 0;
  #file: AuditFile | undefined;
  #fileTime = 0;
  #last: Promise<void> = Promise.resolve();
  #isScheduled = false;
  #isDisposed = false;
  #hasFailed = false;
  readonly #didFail = new Emitter<AuditFailure>();

  /** Fires once, until the disk takes entries again. */
  readonly onDidFail: Event<AuditFailure> = this.#didFail.event;

  constructor({ folder, environment, log, limits = defaultAuditLimits, now = Date.now }: AuditLogOptions) {
    this.#folder = folder;
    this.#redact = createRedactor(environment);
    this.#log = log;
    this.#limits = limits;
    this.#now = now;
  }

  record(event: AuditEvent): void {
    if (this.#isDisposed) {
      return;
    }
    this.#enqueue(event);
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      void this.#inTurn(async () => {
        await setImmediate(); // the command starts first
        this.#isScheduled = false;
        await this.#writeWaiting();
      });
    }
  }

  /** Returns when the disk has everything that was recorded, or has refused it. */
  flush(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#writeWaiting();
      await this.#file?.sync().catch((error: unknown) => this.#fail(error));
    });
  }

  /** Writes what waits, and ends. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.flush();
    await this.#inTurn(() => this.#closeFile());
    this.#didFail.dispose();
  }

  #enqueue(event: AuditEvent): void {
    const at = this.#now();
    const characters = JSON.stringify(event).length;
    if (this.#waitingCharacters + characters <= maxWaitingCharacters) {
      this.#waitingCharacters += characters;
      this.#wait({ at, event, characters });
    } else if (this.#newest?.event.kind === 'gap') {
      this.#newest.event.lost += 1;
    } else {
      this.#wait({ at, event: { kind: 'gap', lost: 1 }, characters: 0 });
    }
  }

  #wait(waiting: Waiting): void {
    this.#waiting.add(waiting);
    this.#newest = waiting;
  }

  async #writeWaiting(): Promise<void> {
    try {
      if ((await this.#file?.isRemoved()) === true) {
        await this.#closeFile();
      }
      // What is recorded meanwhile is written, too.
      for (const next of this.#waiting) {
        await this.#append(this.#lineOf(next), next.at);
        this.#waiting.delete(next);
        this.#waitingCharacters -= next.characters;
        this.#newest = this.#waiting.size === 0 ? undefined : this.#newest;
        this.#hasFailed = false;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #lineOf({ at, event }: Waiting): string {
    return toLine(at, event.kind === 'gap' ? event : presentable(event, this.#redact));
  }

  async #append(line: string, at: number): Promise<void> {
    if (this.#file !== undefined && this.#file.size + line.length > this.#limits.maxFileBytes) {
      await this.#file.sync();
      await this.#closeFile();
    }
    this.#file ??= await this.#createFile(at);
    await this.#file.append(line);
  }

  /** `at`: of its first entry. */
  async #createFile(at: number): Promise<AuditFile> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await pruneAuditFiles(this.#folder, this.#limits, this.#now());
    this.#fileTime = Math.max(this.#now(), this.#fileTime + 1);
    const path = join(this.#folder, auditFileName(this.#fileTime, this.#writer));
    const file = await AuditFile.create(path);
    try {
      const started = processIdentity(process.pid) ?? '';
      await file.append(toLine(at, { kind: 'start', pid: process.pid, started }));
      return file;
    } catch (error) {
      await file.close();
      await unlink(path);
      throw error;
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) {
      return;
    }
    this.#hasFailed = true;
    const failure = {
      message: `The audit log in ${this.#folder} cannot be written: ${error instanceof Error ? error.message : String(error)}.`,
      hint: 'Commands go on. Make room, or let the folder be written: what waits is written with the next command.',
    };
    this.#log.error(`${failure.message} ${failure.hint}`);
    this.#didFail.fire(failure);
  }

  #inTurn(action: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(action).catch((error: unknown) => this.#fail(error));
    return this.#last;
  }
}

function toLine(at: number, event: AuditEvent | AuditNote): string {
  const entry: AuditEntry = { version: 1, at: new Date(at).toISOString(), ...event };
  return JSON.stringify(entry);
}
