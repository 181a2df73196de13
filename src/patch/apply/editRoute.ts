import { isInside } from '../../sandbox/paths.ts';
import type { PlannedChange, UpdateChange } from '../plan/plan.ts';

/**
 * How a change reaches its file. `edit`: through the editor, with undo, in open documents. `engine`: byte by byte on
 * the disk, because the editor would damage the file or cannot do it. `refused`: neither, as only the editor holds the
 * person's unsaved text.
 */
export type EditRoute =
  | { readonly kind: 'edit' }
  | { readonly kind: 'engine'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** What is known about the files of a change before a document is opened. */
export interface RouteFacts {
  /** A document of the path has unsaved changes, or was never saved. */
  readonly isDirty: boolean;
  /** A document of a rename's destination has. */
  readonly isDestinationDirty: boolean;
  readonly isInWorkspace: boolean;
  /** Permission bits that a new file gets here. */
  readonly newFileMode: number;
  /** Names of the file on disk. */
  readonly links: number;
  /** Another change of the patch concerns the same place. */
  readonly isEntangled: boolean;
}

/** The route by what the change is; an update that stays on `edit` still has to pass {@link textObstacle}. */
export function editRoute(change: PlannedChange, facts: RouteFacts): EditRoute {
  const reason = engineReason(change, facts);
  if (!facts.isDirty && !facts.isDestinationDirty) {
    return reason === undefined ? { kind: 'edit' } : { kind: 'engine', reason };
  }
  if (facts.isDestinationDirty) {
    return { kind: 'refused', reason: 'the destination has unsaved changes, which the patch would replace' };
  }
  switch (change.kind) {
    case 'update':
      // Where it lies and how many names it has does not matter: the person saves it there, too.
      return isHuge(change.before.bytes) ||
        isHuge(change.after) ||
        facts.isEntangled ||
        changesMode(change, facts.newFileMode)
        ? { kind: 'refused', reason: `it has unsaved changes, and ${reason ?? tooLarge}` }
        : { kind: 'edit' };
    case 'delete':
      return { kind: 'refused', reason: 'it has unsaved changes, which deleting it would lose' };
    case 'move':
      return { kind: 'refused', reason: 'it has unsaved changes, and a rename would save them unasked' };
    case 'create':
      return { kind: 'refused', reason: 'a document with unsaved changes already stands for it' };
  }
}

const tooLarge = 'it is too large for the editor';

function engineReason(change: PlannedChange, facts: RouteFacts): string | undefined {
  if (facts.isEntangled) {
    return 'other changes of the patch concern the same place';
  }
  if (!facts.isInWorkspace) {
    return 'it lies outside every workspace folder';
  }
  switch (change.kind) {
    case 'create':
      if (change.replaces !== undefined) {
        return 'it replaces a link';
      }
      if (change.mode !== undefined && change.mode !== facts.newFileMode) {
        return 'it needs other permissions than a new file gets';
      }
      return isHuge(change.after) ? tooLarge : undefined;
    case 'update':
      if (changesMode(change, facts.newFileMode)) {
        return 'its permissions change';
      }
      if (facts.links > 1) {
        return 'it has several names on disk (hard links)';
      }
      return isHuge(change.before.bytes) || isHuge(change.after) ? tooLarge : undefined;
    case 'delete':
      if (!('bytes' in change.before)) {
        return 'it is a link';
      }
      return isHuge(change.before.bytes) ? tooLarge : undefined;
    case 'move':
      if (change.sourceEntry.kind === 'link') {
        return 'it is a link';
      }
      if (change.replaced !== undefined) {
        return 'it replaces another file';
      }
      return change.after.equals(change.before.bytes) ? undefined : 'it is renamed and edited';
  }
}

function changesMode({ mode, before }: UpdateChange, newFileMode: number): boolean {
  return mode !== undefined && (mode === 'new' ? newFileMode : mode) !== before.entry.mode;
}

/** Beyond this, opening the file as a document costs more time and memory than the undo step is worth. */
const maxBytes = 5 * 1024 * 1024;
const maxLines = 50_000;

function isHuge(bytes: Buffer): boolean {
  if (bytes.length > maxBytes) {
    return true;
  }
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1 && lines <= maxLines; at = bytes.indexOf(10, at + 1)) {
    lines += 1;
  }
  return lines > maxLines;
}

/** An update as the editor would carry it out. */
export interface TextFacts {
  readonly before: Buffer;
  /** What the editor would save of the unchanged document; undefined when it does not open it. */
  readonly savedBefore: Buffer | undefined;
  readonly after: Buffer;
  /** The new content as the document's encoding reads it, and what that would be saved as. */
  readonly textAfter: string | undefined;
  readonly savedAfter: Buffer | undefined;
  readonly encoding: string;
  readonly lineEnd: '\n' | '\r\n';
}

/** Why the editor would not save exactly the planned bytes; undefined when it would. */
export function textObstacle(facts: TextFacts): string | undefined {
  const { before, savedBefore, after, textAfter, savedAfter, encoding, lineEnd } = facts;
  if (savedBefore === undefined) {
    return 'it is binary';
  }
  if (!savedBefore.equals(before)) {
    return !encoding.startsWith('utf16') && hasMixedLineEnds(before)
      ? 'its line ends are mixed'
      : `its bytes are not what the editor writes in the encoding ${encoding}`;
  }
  if (textAfter === undefined || !savedAfter?.equals(after)) {
    return `the new content cannot be written in the encoding ${encoding}`;
  }
  return hasOnlyLineEnd(textAfter, lineEnd) ? undefined : 'the new line ends are not those of the file';
}

function hasMixedLineEnds(bytes: Buffer): boolean {
  const kinds = new Set(bytes.toString('latin1').match(/\r\n?|\n/g));
  return kinds.size > 1 || kinds.has('\r');
}

function hasOnlyLineEnd(text: string, lineEnd: '\n' | '\r\n'): boolean {
  return lineEnd === '\n' ? !text.includes('\r') : !/\r(?!\n)|(?<!\r)\n/.test(text);
}

/** The changes that share a path with another one, or lie below it: their order matters. */
export function entangledChanges(changes: readonly PlannedChange[]): ReadonlySet<PlannedChange> {
  const places = changes
    .flatMap((change) => pathsOf(change).map((path) => ({ path, change })))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const entangled = new Set<PlannedChange>();
  for (const [index, { path, change }] of places.entries()) {
    // Sorted, whatever lies below a path follows it, if not at once: `a`, `a-b`, `a/b`.
    for (let next = index + 1; places[next]?.path.startsWith(path) === true; next += 1) {
      const other = places[next];
      if (other !== undefined && other.change !== change && isInside(other.path, path)) {
        entangled.add(change).add(other.change);
      }
    }
  }
  return entangled;
}

/** The places that a change concerns. */
export function pathsOf(change: PlannedChange): readonly string[] {
  return change.kind === 'move' ? [change.path, change.toPath] : [change.path];
}
