import { randomUUID } from 'node:crypto';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import type { Root } from '../roots.ts';
import type { Grant, Grantable } from './grant.ts';
import type { GrantFolder } from './grantFolder.ts';

/** The longest time that a timer can wait. */
const maxDelayMs = 2 ** 31 - 1;

/** What persons granted, by root: on the disk, or for this window only. A grant whose time is over is gone by itself. */
export class GrantStore implements Disposable {
  readonly #folder: GrantFolder | undefined;
  readonly #didChange = new Emitter<void>();
  readonly #didAdd = new Emitter<Grant>();
  readonly #didRevoke = new Emitter<Grant>();
  readonly onDidChange = this.#didChange.event;
  readonly onDidAdd = this.#didAdd.event;
  /** A grant ended before its time. */
  readonly onDidRevoke = this.#didRevoke.event;
  #ofSession: readonly Grant[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Without a folder, every grant ends with the process. */
  constructor(folder?: GrantFolder) {
    this.#folder = folder;
    this.#awaitNextEnd();
  }

  /** The grants in force, oldest first; of one root, and the machine that it is on, when it is given. */
  list(root?: GrantedRoot): readonly Grant[] {
    const now = Date.now();
    return [...(this.#folder?.list() ?? []), ...this.#ofSession]
      .filter((grant) => root === undefined || isOf(root, grant))
      .filter(({ until }) => until === undefined || until > now)
      .sort((a, b) => a.grantedAt - b.grantedAt);
  }

  /** What the grants of a root add to its policy. */
  wideningsOf(root: GrantedRoot): readonly Widening[] {
    return this.list(root).flatMap(({ what }) => (what.kind === 'prefix' ? [] : [what]));
  }

  /** The beginnings of commands that run without a question in a root. */
  prefixesOf(root: GrantedRoot): readonly (readonly string[])[] {
    return this.list(root).flatMap(({ what }) => (what.kind === 'prefix' ? [what.words] : []));
  }

  /** Adds a grant; those for the same thing in the same root make room for it. */
  async add(grant: Omit<Grant, 'id' | 'grantedAt'>): Promise<Grant> {
    const added: Grant = { ...grant, id: randomUUID(), grantedAt: Date.now() };
    const replaced = this.list().filter(
      (other) =>
        other.root === grant.root &&
        other.environment === grant.environment &&
        keyOf(other.what) === keyOf(grant.what),
    );
    if (added.lasts === 'root' && this.#folder !== undefined) {
      await this.#folder.add(added);
    } else {
      this.#ofSession = [...this.#ofSession, added];
    }
    await this.#remove(replaced);
    this.#didAdd.fire(added);
    return added;
  }

  async revoke(ids: readonly string[]): Promise<void> {
    const revoked = this.list().filter(({ id }) => ids.includes(id));
    await this.#remove(revoked);
    revoked.forEach((grant) => this.#didRevoke.fire(grant));
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#didChange.dispose();
    this.#didAdd.dispose();
    this.#didRevoke.dispose();
  }

  async #remove(grants: readonly Grant[]): Promise<void> {
    this.#ofSession = this.#ofSession.filter((grant) => !grants.some(({ id }) => id === grant.id));
    for (const { id } of grants) {
      await this.#folder?.remove(id);
    }
    this.#awaitNextEnd();
    this.#didChange.fire();
  }

  #awaitNextEnd(): void {
    clearTimeout(this.#timer);
    const ends = this.list().flatMap(({ until }) => until ?? []);
    if (ends.length === 0) {
      return;
    }
    const delayMs = Math.min(Math.max(0, Math.min(...ends) - Date.now()), maxDelayMs);
    this.#timer = setTimeout(() => {
      this.#awaitNextEnd();
      this.#didChange.fire();
    }, delayMs);
    this.#timer.unref();
  }
}

/** What was granted for one machine opens nothing on another. */
type GrantedRoot = Pick<Root, 'path' | 'environment'>;

function isOf({ path, environment }: GrantedRoot, grant: Grant): boolean {
  return grant.root === path && grant.environment === environment;
}

/** What a grant is for: a path for reading and the same path for writing are one. */
function keyOf(what: Grantable): string {
  switch (what.kind) {
    case 'path':
    case 'socket':
      return `${what.kind} ${what.path}`;
    case 'host':
      return `host ${what.host}`;
    case 'prefix':
      return `prefix ${JSON.stringify(what.words)}`;
    case 'network':
    case 'mode':
      return what.kind;
  }
}
