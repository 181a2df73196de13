import type { Entry, FileEntry, LinkEntry } from '../files/fileSystem.ts';

/** A patch checked against the files: every new content is known, and nothing was written. */
export interface Plan {
  /** Net effect, one per entry that ends up different, in the order in which the patch first touches them. */
  readonly changes: readonly PlannedChange[];
  readonly summary: PatchSummary;
  /** Sentences for the model: tolerated forms, further places that a chunk would have matched, overwritten files. */
  readonly notes: readonly string[];
}

/** Names as written in the patch, each group in patch order; a file touched twice appears twice. */
export interface PatchSummary {
  readonly added: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
}

/**
 * What happens to one entry. `path` is where the entry really is (links resolved: the file behind a link for an
 * update, the link itself for a deletion); for a rename, the source.
 */
export type PlannedChange = CreateChange | UpdateChange | DeleteChange | MoveChange;

interface ChangeBase {
  readonly path: string;
  /** As written in the patch. */
  readonly name: string;
}

export interface CreateChange extends ChangeBase {
  readonly kind: 'create';
  readonly after: Buffer;
  /** Permission bits to carry over; the default of new files when left out. */
  readonly mode?: number | undefined;
  /** A link that the patch deletes at the same place. */
  readonly replaces?: LinkEntry | undefined;
}

/** Also an add over an existing file. */
export interface UpdateChange extends ChangeBase {
  readonly kind: 'update';
  readonly before: FileBefore;
  readonly after: Buffer;
  /** Permission bits of the result when they are not those of `before`; `new`: those of any new file. */
  readonly mode?: number | 'new' | undefined;
  /** How `before` becomes `after`, by line and from top to bottom; undefined when the change is not one of lines. */
  readonly edits?: readonly LineEdit[] | undefined;
}

export interface DeleteChange extends ChangeBase {
  readonly kind: 'delete';
  /** The file with its content, or the link. */
  readonly before: FileBefore | LinkBefore;
}

/** A rename, with or without new content. The name is the source's. */
export interface MoveChange extends ChangeBase {
  readonly kind: 'move';
  /** Of the source; a link as source is removed, and its target's content goes to the destination. */
  readonly before: FileBefore;
  /** What is at `path` itself: differs from `before.entry` when that is a link. */
  readonly sourceEntry: Entry;
  readonly toPath: string;
  readonly toName: string;
  /** What the destination held; undefined when it was free. */
  readonly replaced?: FileBefore | undefined;
  readonly after: Buffer;
  readonly edits?: readonly LineEdit[] | undefined;
}

export interface FileBefore {
  readonly entry: FileEntry;
  readonly bytes: Buffer;
}

export interface LinkBefore {
  readonly entry: LinkEntry;
}

/** Replaces `removed` lines from `start` (counted from 0 in the old file) by `added`; lines carry their line ends. */
export interface LineEdit {
  readonly start: number;
  readonly removed: number;
  readonly added: readonly string[];
}
