import { resolve } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { ReadAccess } from '../../sandbox/readAccess.ts';
import type { WriteAccess, WriteRefusal } from '../../sandbox/writeAccess.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import type { AddSection, DeleteSection, Patch, Section, UpdateSection } from '../format/patch.ts';
import type { PatchError } from '../patchError.ts';
import { cannot, cannotRead, causeOf, fileErrorCode, notReadable } from './ioErrors.ts';
import type { LineEdit, Plan, PlannedChange } from './plan.ts';
import { reviseContent } from './reviseContent.ts';
import type { Located, Lost } from './workingSet.ts';
import { WorkingSet } from './workingSet.ts';

export interface PlanOptions {
  readonly files: FileSystem;
  /** Absolute path that the names in the patch are relative to. */
  readonly cwd: string;
  /** Judges every path that would be written; everything is allowed without it. */
  readonly access?: WriteAccess | undefined;
  /** Judges every path whose lines the patch is compared with, which answers to the model may quote. */
  readonly readAccess?: ReadAccess | undefined;
}

export interface PlannedPatch {
  readonly plan: Plan;
  /** The writes that the policy does not allow. Such a plan must not be applied without a person's yes. */
  readonly refusals: readonly WriteRefusal[];
}

/**
 * Checks a patch against the files and computes every new content; nothing is written. Sections see what the ones
 * before them leave (reference §7), so that a patch fails here as a whole or not at all.
 */
export async function planPatch(
  patch: Patch,
  { files, cwd, access, readAccess }: PlanOptions,
): Promise<Result<PlannedPatch, PatchError>> {
  if (patch.sections.length === 0) {
    return fail({ kind: 'apply.no_files', message: 'No files were modified.' });
  }
  const planner = new Planner(new WorkingSet(files), cwd, readAccess);
  for (const section of patch.sections) {
    const error = await planner.plan(section);
    if (error !== undefined) {
      return fail(error);
    }
  }
  const changes = await planner.changes();
  const refusals = access === undefined ? [] : refusalsOf(changes, access);
  return ok({
    plan: { changes, summary: planner.summary, notes: [...patch.notes, ...planner.notes] },
    refusals,
  });
}

/** The writes among the changes that the policy does not allow. */
export function refusalsOf(changes: readonly PlannedChange[], access: WriteAccess): WriteRefusal[] {
  return changes
    .flatMap((change) => (change.kind === 'move' ? [change.path, change.toPath] : [change.path]))
    .map(access)
    .filter((refusal) => refusal !== undefined);
}

class Planner {
  readonly #files: WorkingSet;
  readonly #cwd: string;
  readonly #readAccess: ReadAccess | undefined;
  readonly summary = { added: [] as string[], modified: [] as string[], deleted: [] as string[] };
  readonly notes: string[] = [];

  constructor(files: WorkingSet, cwd: string, readAccess: ReadAccess | undefined) {
    this.#files = files;
    this.#cwd = cwd;
    this.#readAccess = readAccess;
  }

  changes(): Promise<PlannedChange[]> {
    return this.#files.changes();
  }

  async plan(section: Section): Promise<PatchError | undefined> {
    const error = await this.#planSection(section);
    return error === undefined ? undefined : { line: section.line, ...error };
  }

  #planSection(section: Section): Promise<PatchError | undefined> {
    switch (section.kind) {
      case 'add':
        return this.#add(section);
      case 'delete':
        return this.#delete(section);
      case 'update':
        return this.#update(section);
    }
  }

  async #add({ path: name, lines }: AddSection): Promise<PatchError | undefined> {
    const path = this.#absolute(name);
    if (typeof path !== 'string') {
      return path;
    }
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8');
    const place = await this.#writable(path);
    if ('kind' in place) {
      return place;
    }
    if (place.entry.kind === 'file') {
      this.notes.push(
        `${name} existed and was overwritten by "*** Add File"; use "*** Update File" to change a file.`,
      );
    }
    try {
      await this.#files.write(place.path, name, bytes);
    } catch (error) {
      return unrecoverable('io.write', path, fileErrorCode(error));
    }
    this.summary.added.push(name);
    return undefined;
  }

  async #delete({ path: name }: DeleteSection): Promise<PatchError | undefined> {
    const path = this.#absolute(name);
    if (typeof path !== 'string') {
      return path;
    }
    const place = await this.#locate(path, { followsLast: false });
    if ('code' in place) {
      return cannot('io.delete', path, causeOf(place.code === 'EDANGLING' ? 'ENOENT' : place.code));
    }
    const code = { missing: 'ENOENT', folder: 'EISDIR', other: 'EINVAL', file: undefined, link: undefined }[
      place.entry.kind
    ];
    if (code !== undefined) {
      return cannot('io.delete', path, causeOf(code));
    }
    try {
      await this.#files.remove(place.path, name);
    } catch (error) {
      return unrecoverable('io.delete', path, fileErrorCode(error));
    }
    this.summary.deleted.push(name);
    return undefined;
  }

  async #update(section: UpdateSection): Promise<PatchError | undefined> {
    const path = this.#absolute(section.path);
    if (typeof path !== 'string') {
      return path;
    }
    const source = await this.#locate(path, { followsLast: true });
    if ('code' in source) {
      return cannotRead(path, causeOf(source.code === 'EDANGLING' ? 'ENOENT' : source.code));
    }
    // Before it is told whether there is anything.
    const refusal = this.#readAccess?.(source.path);
    if (refusal !== undefined) {
      return notReadable(path, refusal);
    }
    if (source.entry.kind !== 'file') {
      const codes = { missing: 'ENOENT', folder: 'EISDIR', other: 'EINVAL', link: 'ELOOP' } as const;
      return cannotRead(path, causeOf(codes[source.entry.kind]));
    }
    let bytes: Buffer;
    try {
      bytes = await this.#files.read(source.path);
    } catch (error) {
      return cannotRead(path, causeOf(fileErrorCode(error)));
    }
    const isPureMove = section.movePath !== undefined && section.chunks.length === 0;
    const revision = isPureMove
      ? ok({ after: bytes, edits: [], notes: [] })
      : reviseContent(section, bytes, path);
    if (!revision.ok) {
      return revision.error;
    }
    const { after, edits, notes } = revision.value;
    this.notes.push(...notes);
    if (section.movePath !== undefined) {
      return this.#move(section.path, section.movePath, path, source.path, after, edits);
    }
    await this.#files.write(source.path, section.path, after, edits);
    this.summary.modified.push(section.path);
    return undefined;
  }

  async #move(
    name: string,
    toName: string,
    path: string,
    content: string,
    after: Buffer,
    edits: readonly LineEdit[] | undefined,
  ): Promise<PatchError | undefined> {
    const toPath = this.#absolute(toName);
    if (typeof toPath !== 'string') {
      return toPath;
    }
    const destination = await this.#writable(toPath);
    if ('kind' in destination) {
      return destination;
    }
    const source = await this.#locate(path, { followsLast: false });
    if ('code' in source) {
      return cannotRead(path, causeOf(source.code));
    }
    this.summary.modified.push(toName);
    if (destination.path === source.path || destination.path === content) {
      await this.#files.write(content, name, after, edits);
      this.notes.push(`${name} is renamed to itself; it was updated in place.`);
      return undefined;
    }
    if (destination.entry.kind === 'file') {
      this.notes.push(`${toName} existed and was overwritten by the rename of ${name}.`);
    }
    try {
      await this.#files.move(
        { path: source.path, name, content },
        { path: destination.path, name: toName },
        after,
        edits,
      );
    } catch (error) {
      return unrecoverable('io.write', toPath, fileErrorCode(error));
    }
    return undefined;
  }

  /** A place where a file can be put: free, or a file already. */
  async #writable(path: string): Promise<Located | PatchError> {
    const place = await this.#locate(path, { followsLast: true });
    if ('code' in place) {
      return cannot(place.code === 'EDANGLING' ? 'io.mkdir' : 'io.write', path, causeOf(place.code));
    }
    return place.entry.kind === 'file' || place.entry.kind === 'missing'
      ? place
      : cannot('io.write', path, causeOf(place.entry.kind === 'folder' ? 'EISDIR' : 'EINVAL'));
  }

  async #locate(path: string, options: { readonly followsLast: boolean }): Promise<Located | Lost> {
    try {
      return await this.#files.locate(path, options);
    } catch (error) {
      return { code: fileErrorCode(error) };
    }
  }

  /** Joined and cleaned as text, as the reference does (§3.5), but with every character that the name has. */
  #absolute(name: string): string | PatchError {
    return name.includes('\0')
      ? {
          kind: 'path.invalid',
          message: `The path ${JSON.stringify(name)} is invalid on this system`,
          hint: 'A name cannot contain a zero byte.',
        }
      : resolve(this.#cwd, name);
  }
}

/** What a file holds must be known before it goes, so that it can be brought back. */
function unrecoverable(kind: 'io.write' | 'io.delete', path: string, code: string): PatchError {
  return cannot(kind, path, `Its content cannot be read, so it could not be restored: ${causeOf(code)}`);
}
