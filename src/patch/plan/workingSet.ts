import { basename, dirname, join, parse, sep } from 'node:path';
import type { Entry, FileSystem, LinkEntry } from '../files/fileSystem.ts';
import { editsOfBytes } from '../text/editsOfBytes.ts';
import type { FileBefore, LineEdit, PlannedChange } from './plan.ts';

/** What a name leads to, in the state that the sections so far have planned. */
export interface Located {
  /** Where the entry really is: every folder on the way canonical, the last component not a link that was followed. */
  readonly path: string;
  readonly entry: Entry;
}

/** A name that leads nowhere; `EDANGLING`: a folder on the way is a link to nothing. */
export interface Lost {
  readonly code: string;
}

interface PlannedFile {
  readonly bytes: Buffer;
  /** As written in the patch. */
  readonly name: string;
  /** The entry on the disk that this file was before: other than its path when the patch moved it. */
  readonly origin?: Origin | undefined;
  /** From the origin's content; undefined when several sections had a hand in it. */
  readonly edits?: readonly LineEdit[] | undefined;
}

interface Origin {
  readonly path: string;
  readonly name: string;
  readonly entry: Entry;
  readonly before: FileBefore;
}

const maxLinks = 40;

/** The files as the sections of a patch leave them one after the other; nothing is written. */
export class WorkingSet {
  readonly #files: FileSystem;
  /** What the file system has, asked once. */
  readonly #entries = new Map<string, Entry>();
  readonly #contents = new Map<string, Buffer>();
  /** What is planned; the order is that of the first touch. */
  readonly #planned = new Map<string, PlannedFile | 'removed'>();
  readonly #namesOfRemoved = new Map<string, string>();

  constructor(files: FileSystem) {
    this.#files = files;
  }

  /** Follows the links on the way, and the last one when asked to. Throws what the file system throws. */
  async locate(
    absolutePath: string,
    { followsLast }: { readonly followsLast: boolean },
  ): Promise<Located | Lost> {
    const { root } = parse(absolutePath);
    return this.#walk(root, absolutePath.slice(root.length).split(sep), followsLast, 0);
  }

  async #walk(
    start: string,
    components: readonly string[],
    followsLast: boolean,
    links: number,
  ): Promise<Located | Lost> {
    let folder = start;
    const names = components.filter((name) => name !== '' && name !== '.');
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      const path = name === '..' ? dirname(folder) : join(folder, name);
      const entry = await this.#entry(path);
      if (entry.kind === 'link' && (!isLast || followsLast)) {
        if (links >= maxLinks) {
          return { code: 'ELOOP' };
        }
        const target = await this.#walk(
          parse(entry.target).root || folder,
          entry.target.split(sep),
          true,
          links + 1,
        );
        if (isLast || 'code' in target) {
          return target;
        }
        if (target.entry.kind === 'missing') {
          return { code: 'EDANGLING' };
        }
        if (target.entry.kind !== 'folder') {
          return { code: 'ENOTDIR' };
        }
        folder = target.path;
        continue;
      }
      if (isLast) {
        return { path, entry };
      }
      // A missing folder is one to be made, in which the patch may have planned files already.
      if (entry.kind === 'missing' && names.slice(index + 1).includes('..')) {
        return { code: 'ENOENT' };
      }
      if (entry.kind !== 'missing' && entry.kind !== 'folder') {
        return { code: 'ENOTDIR' };
      }
      folder = path;
    }
    return { path: folder, entry: { kind: 'folder' } };
  }

  async #entry(path: string): Promise<Entry> {
    const planned = this.#planned.get(path);
    if (planned === 'removed') {
      return { kind: 'missing' };
    }
    if (planned !== undefined) {
      const mode = planned.origin?.before.entry.mode ?? 0o644;
      return { kind: 'file', mode, size: planned.bytes.length, version: 'planned' };
    }
    return this.#original(path);
  }

  async #original(path: string): Promise<Entry> {
    let entry = this.#entries.get(path);
    if (entry === undefined) {
      entry = await this.#files.stat(path);
      this.#entries.set(path, entry);
    }
    return entry;
  }

  /** The content of a file that `locate` found. */
  async read(path: string): Promise<Buffer> {
    const planned = this.#planned.get(path);
    return planned === undefined || planned === 'removed' ? this.#originalBytes(path) : planned.bytes;
  }

  async #originalBytes(path: string): Promise<Buffer> {
    let bytes = this.#contents.get(path);
    if (bytes === undefined) {
      bytes = await this.#files.read(path);
      this.#contents.set(path, bytes);
    }
    return bytes;
  }

  /** Plans new content. `edits`, when known, lead from the content that `read` gives now. */
  async write(path: string, name: string, bytes: Buffer, edits?: readonly LineEdit[]): Promise<void> {
    const planned = this.#planned.get(path);
    const isFirstTouch = planned === undefined;
    const origin = isFirstTouch
      ? await this.#originOf(path, path, name)
      : planned === 'removed'
        ? undefined
        : planned.origin;
    this.#planned.set(path, { bytes, name, origin, ...(isFirstTouch && { edits }) });
  }

  /** Plans the removal of a file or link. Its content is read, so that it can be brought back. */
  async remove(path: string, name: string): Promise<void> {
    if (this.#planned.get(path) === undefined && (await this.#original(path)).kind === 'file') {
      await this.#originalBytes(path);
    }
    this.#planned.set(path, 'removed');
    this.#namesOfRemoved.set(path, name);
  }

  /**
   * Plans a rename with new content. `source` is the entry that goes, `content` where its content is: elsewhere when
   * the source is a link.
   */
  async move(
    source: { readonly path: string; readonly name: string; readonly content: string },
    destination: { readonly path: string; readonly name: string },
    bytes: Buffer,
    edits: readonly LineEdit[] | undefined,
  ): Promise<void> {
    const planned = this.#planned.get(source.path);
    const isFirstTouch = planned === undefined && this.#planned.get(source.content) === undefined;
    const origin =
      planned === undefined || planned === 'removed'
        ? await this.#originOf(source.path, source.content, source.name)
        : planned.origin;
    if ((await this.#entry(destination.path)).kind === 'file') {
      await this.read(destination.path);
    }
    this.#planned.set(source.path, 'removed');
    this.#namesOfRemoved.set(source.path, source.name);
    this.#planned.delete(destination.path);
    this.#planned.set(destination.path, {
      bytes,
      name: destination.name,
      origin,
      ...(isFirstTouch && { edits }),
    });
  }

  async #originOf(path: string, content: string, name: string): Promise<Origin | undefined> {
    const entry = await this.#original(path);
    const file = await this.#original(content);
    return file.kind === 'file'
      ? { path, name, entry, before: { entry: file, bytes: await this.#originalBytes(content) } }
      : undefined;
  }

  /** The net effect, in order of the first touch. */
  async changes(): Promise<PlannedChange[]> {
    const changes: PlannedChange[] = [];
    const movedAway = new Set<string>();
    for (const [path, planned] of this.#planned) {
      const moved = this.#movedInto(path, planned, movedAway);
      if (moved !== undefined) {
        movedAway.add(moved);
      }
    }
    for (const [path, planned] of this.#planned) {
      if (!movedAway.has(path) || planned !== 'removed') {
        changes.push(...(await this.#change(path, planned, movedAway)));
      }
    }
    return changes;
  }

  /** The path of the entry that a rename brings here, when that entry is really gone and went nowhere else. */
  #movedInto(path: string, planned: PlannedFile | 'removed', taken: ReadonlySet<string>): string | undefined {
    const origin = planned === 'removed' ? undefined : planned.origin?.path;
    const isMoved = origin !== undefined && origin !== path;
    return isMoved && this.#planned.get(origin) === 'removed' && !taken.has(origin) ? origin : undefined;
  }

  async #change(
    path: string,
    planned: PlannedFile | 'removed',
    movedAway: ReadonlySet<string>,
  ): Promise<PlannedChange[]> {
    const original = await this.#original(path);
    if (planned === 'removed') {
      const name = this.#namesOfRemoved.get(path) ?? basename(path);
      if (original.kind === 'file') {
        return [
          { kind: 'delete', path, name, before: { entry: original, bytes: await this.#originalBytes(path) } },
        ];
      }
      return original.kind === 'link' ? [{ kind: 'delete', path, name, before: { entry: original } }] : [];
    }
    const { bytes: after, name, origin } = planned;
    const replaced: FileBefore | undefined =
      original.kind === 'file' ? { entry: original, bytes: await this.#originalBytes(path) } : undefined;
    if (origin !== undefined && origin.path !== path && movedAway.has(origin.path)) {
      const { before, entry: sourceEntry } = origin;
      const edits = planned.edits ?? editsOfBytes(before.bytes, after);
      return [
        {
          kind: 'move',
          path: origin.path,
          name: origin.name,
          before,
          sourceEntry,
          toPath: path,
          toName: name,
          replaced,
          after,
          edits,
        },
      ];
    }
    if (replaced === undefined) {
      const replaces: LinkEntry | undefined = original.kind === 'link' ? original : undefined;
      return [{ kind: 'create', path, name, after, mode: origin?.before.entry.mode, replaces }];
    }
    // Deleted and then added: nothing of the old file stays, not even its permission bits.
    const isFresh = origin === undefined;
    if (replaced.bytes.equals(after) && !isFresh) {
      return [];
    }
    const isDirect = origin?.path === path;
    const edits = (isDirect ? planned.edits : undefined) ?? editsOfBytes(replaced.bytes, after);
    return [{ kind: 'update', path, name, before: replaced, after, edits, ...(isFresh && { mode: 'new' }) }];
  }
}
