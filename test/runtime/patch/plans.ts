import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import type { Entry, FileSystem } from '../../../src/patch/files/fileSystem.ts';
import type {
  CreateChange,
  DeleteChange,
  FileBefore,
  MoveChange,
  Plan,
  PlannedChange,
  UpdateChange,
} from '../../../src/patch/plan/plan.ts';

/** Makes plans by hand, from what is on the disk at that moment. */
export class Planner {
  readonly #files: FileSystem;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  create(path: string, text: string): CreateChange {
    return { kind: 'create', path, name: path, after: Buffer.from(text) };
  }

  async update(path: string, text: string): Promise<UpdateChange> {
    return { kind: 'update', path, name: path, before: await this.#before(path), after: Buffer.from(text) };
  }

  async delete(path: string): Promise<DeleteChange> {
    const before = lstatSync(path).isSymbolicLink()
      ? { entry: { kind: 'link', target: readlinkSync(path) } as const }
      : await this.#before(path);
    return { kind: 'delete', path, name: path, before };
  }

  /** Without a text the content stays; `replaces`: there is a file at the destination. */
  async move(path: string, toPath: string, text?: string, replaces = false): Promise<MoveChange> {
    const before = await this.#before(path);
    return {
      kind: 'move',
      path,
      name: path,
      before,
      sourceEntry: before.entry,
      toPath,
      toName: toPath,
      replaced: replaces ? await this.#before(toPath) : undefined,
      after: text === undefined ? before.bytes : Buffer.from(text),
    };
  }

  async #before(path: string): Promise<FileBefore> {
    const entry: Entry = await this.#files.stat(path);
    if (entry.kind !== 'file') {
      throw new Error(`${path} is no file`);
    }
    return { entry, bytes: readFileSync(path) };
  }
}

export function planOf(...changes: readonly PlannedChange[]): Plan {
  return { changes, summary: { added: [], modified: [], deleted: [] }, notes: [] };
}
