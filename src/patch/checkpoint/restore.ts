import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { FileError } from '../files/fileSystem.ts';
import type { FileEntry, FileSystem } from '../files/fileSystem.ts';
import type { PatchError } from '../patchError.ts';
import { cannotRead, causeOf } from '../plan/ioErrors.ts';
import type { FileBefore } from '../plan/plan.ts';
import { decodeText } from '../text/decode.ts';
import { splitLines } from '../text/lines.ts';
import type { Checkpoint, CheckpointFile, FileState } from './checkpoint.ts';
import { hashOf } from './checkpointStore.ts';
import { mergeLines } from './mergeLines.ts';

/** What restoring a checkpoint does to the files as they are now. Files that are already as they were do not appear. */
export interface Restore {
  readonly files: readonly RestoredFile[];
}

export interface RestoredFile {
  readonly path: string;
  readonly name: string;
  /**
   * `exact`: becomes what it was. `merged`: keeps what was edited since the patch, too. `conflict`: both touched the
   * same place, or there is no telling; only a person can decide.
   */
  readonly outcome: 'exact' | 'merged' | 'conflict';
  readonly current: FileBefore | undefined;
  /** The content that it gets, with markers at conflicts of text; undefined when it is removed. */
  readonly content: Buffer | undefined;
  /** Permission bits that it gets in the end; undefined when they stay. */
  readonly mode?: number | undefined;
  /** The target of the link that it becomes, instead of a file. */
  readonly link?: string | undefined;
}

export interface RestoreOptions {
  readonly files: Pick<FileSystem, 'stat' | 'read'>;
  /** The kept content of a hash. */
  readonly content: (hash: string) => Promise<Buffer>;
}

/** Compares a checkpoint with the files. Nothing is written; fails when a file or a kept content cannot be read. */
export async function planRestore(
  checkpoint: Checkpoint,
  options: RestoreOptions,
): Promise<Result<Restore, PatchError>> {
  try {
    const seen = await Promise.all(checkpoint.files.map((file) => lookAt(file, options)));
    return ok({ files: seen.flatMap((file) => restoreFile(file, seen)) });
  } catch (error) {
    return fail(restoreError(error));
  }
}

/** A file of the checkpoint with all its contents. */
interface SeenFile {
  readonly file: CheckpointFile;
  readonly before: KnownState;
  readonly after: KnownState;
  readonly current: CurrentState;
}

type KnownState = Exclude<FileState, { kind: 'file' }> | (FileState & { kind: 'file'; bytes: Buffer });
type CurrentState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'file'; readonly entry: FileEntry; readonly bytes: Buffer }
  | { readonly kind: 'link'; readonly target: string };

async function lookAt(file: CheckpointFile, { files, content }: RestoreOptions): Promise<SeenFile> {
  const known = async (state: FileState): Promise<KnownState> =>
    state.kind === 'file' ? { ...state, bytes: await content(state.hash) } : state;
  const entry = await files.stat(file.path);
  if (entry.kind === 'folder' || entry.kind === 'other') {
    throw new RestoreError(
      file.path,
      `there is a ${entry.kind === 'folder' ? 'folder' : 'device'} in its place now`,
    );
  }
  return {
    file,
    before: await known(file.before),
    after: await known(file.after),
    current: entry.kind === 'file' ? { kind: 'file', entry, bytes: await files.read(file.path) } : entry,
  };
}

function restoreFile(seen: SeenFile, all: readonly SeenFile[]): readonly RestoredFile[] {
  const { before, after, current } = seen;
  if (isSame(current, before) && modeAfter(seen) === undefined) {
    return [];
  }
  if (isSame(current, after) || isSame(current, before)) {
    const destination = all.find(({ file }) => file.movedFrom === seen.file.path);
    return [destination === undefined ? exact(seen) : restoreMoved(seen, destination)];
  }
  if (current.kind === 'link') {
    throw new RestoreError(seen.file.path, `there is a link to ${current.target} in its place now`);
  }
  if (current.kind === 'missing') {
    return [exact(seen)]; // deleted since: what comes back replaces nothing
  }
  if (before.kind === 'file') {
    return [merged(seen, after.kind === 'file' ? after.bytes : Buffer.alloc(0), current.bytes, before.bytes)];
  }
  if (before.kind === 'missing' && isMovedBack(seen, all)) {
    return [exact(seen)]; // what was edited since is merged into the file at its former place
  }
  return [{ ...exact(seen), outcome: 'conflict' }];
}

/** A file that the patch moved away: edits made at its new place come along. */
function restoreMoved(source: SeenFile, destination: SeenFile): RestoredFile {
  const { before } = source;
  const { after, current } = destination;
  const isEdited =
    before.kind === 'file' &&
    after.kind === 'file' &&
    current.kind === 'file' &&
    !isSame(current, after) &&
    isMovedBack(destination, [source]);
  return isEdited ? merged(source, after.bytes, current.bytes, before.bytes) : exact(source);
}

/** True for a destination of a move that did not exist before and whose source is free for it to return. */
function isMovedBack({ file, before }: SeenFile, all: readonly SeenFile[]): boolean {
  const source = all.find((candidate) => candidate.file.path === file.movedFrom);
  return before.kind === 'missing' && source?.before.kind === 'file' && source.current.kind === 'missing';
}

function exact(seen: SeenFile): RestoredFile {
  const { before } = seen;
  return {
    ...restored(seen),
    outcome: 'exact',
    content: before.kind === 'file' ? before.bytes : undefined,
    ...(before.kind === 'link' ? { link: before.target } : {}),
  };
}

function merged(seen: SeenFile, base: Buffer, ours: Buffer, theirs: Buffer): RestoredFile {
  const merge = mergeTexts(base, ours, theirs);
  return {
    ...restored(seen),
    outcome: merge === undefined || merge.hasConflicts ? 'conflict' : 'merged',
    content: merge?.bytes ?? theirs,
  };
}

function restored(seen: SeenFile): Pick<RestoredFile, 'path' | 'name' | 'current' | 'mode'> {
  const { file, current } = seen;
  const mode = modeAfter(seen);
  return {
    path: file.path,
    name: file.name,
    current: current.kind === 'file' ? { entry: current.entry, bytes: current.bytes } : undefined,
    ...(mode === undefined ? {} : { mode }),
  };
}

/** The mode to set: that of before, unless somebody else has changed it since. */
function modeAfter({ before, after, current }: SeenFile): number | undefined {
  if (before.kind !== 'file' || before.mode === undefined) {
    return undefined;
  }
  if (current.kind !== 'file') {
    return before.mode;
  }
  const isAsApplied = after.kind === 'file' && after.mode === current.entry.mode;
  return isAsApplied && before.mode !== current.entry.mode ? before.mode : undefined;
}

function isSame(current: CurrentState, state: KnownState): boolean {
  switch (state.kind) {
    case 'missing':
      return current.kind === 'missing';
    case 'link':
      return current.kind === 'link' && current.target === state.target;
    case 'file':
      return current.kind === 'file' && hashOf(current.bytes) === state.hash;
  }
}

/** Undefined when one of them is no text, or the merge cannot be written in the encoding of the file. */
function mergeTexts(
  base: Buffer,
  ours: Buffer,
  theirs: Buffer,
): { readonly bytes: Buffer; readonly hasConflicts: boolean } | undefined {
  const [decodedBase, decodedOurs, decodedTheirs] = [decodeText(base), decodeText(ours), decodeText(theirs)];
  if (!decodedBase.ok || !decodedOurs.ok || !decodedTheirs.ok) {
    return undefined;
  }
  const merge = mergeLines({
    base: splitLines(decodedBase.value.text),
    ours: splitLines(decodedOurs.value.text),
    theirs: splitLines(decodedTheirs.value.text),
    oursLabel: 'now',
    theirsLabel: 'before the patch',
  });
  const bytes = merge && decodedOurs.value.encode(merge.lines.join(''));
  return bytes && { bytes, hasConflicts: merge.hasConflicts };
}

class RestoreError extends Error {
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`${path} cannot be restored: ${reason}. Move that away first.`);
    this.path = path;
  }
}

function restoreError(error: unknown): PatchError {
  if (error instanceof RestoreError) {
    return { kind: 'stale', message: error.message, path: error.path };
  }
  if (error instanceof FileError) {
    return cannotRead(error.path, causeOf(error.code));
  }
  return { kind: 'io.read', message: `A kept content cannot be read: ${(error as Error).message}` };
}
