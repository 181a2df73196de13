import { createHash } from 'node:crypto';
import * as z from 'zod';
import { policyClauses } from '../../sandbox/policy/policy.ts';
import type { WriteRefusal } from '../../sandbox/writeAccess.ts';
import type { Entry, FileEntry, LinkEntry } from '../files/fileSystem.ts';
import type { PatchError } from '../patchError.ts';
import { patchErrorKinds } from '../patchError.ts';
import type { PatchSummary, Plan, PlannedChange } from './plan.ts';

// A plan as JSON, for the disk and for the wire: contents lie apart, each once, under their hashes.

/** Contents by their hash. */
export type Blobs = Map<string, Buffer>;

export const contentHash = z.string().regex(/^[0-9a-f]{64}$/);
const names = z.array(z.string());
const fileEntry = z.object({
  kind: z.literal('file'),
  mode: z.number(),
  size: z.number(),
  version: z.string(),
}) satisfies z.ZodType<FileEntry>;
const linkEntry = z.object({ kind: z.literal('link'), target: z.string() }) satisfies z.ZodType<LinkEntry>;
export const storedEntry = z.union([
  fileEntry,
  linkEntry,
  z.object({ kind: z.enum(['missing', 'folder', 'other']) }),
]) satisfies z.ZodType<Entry>;
const fileBefore = z.object({ entry: fileEntry, bytes: contentHash });
const edits = z.array(z.object({ start: z.number(), removed: z.number(), added: names })).optional();
const place = { path: z.string(), name: z.string() };

/** A change whose contents are named by their hashes. */
export const storedChange = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('create'),
    ...place,
    after: contentHash,
    mode: z.number().optional(),
    replaces: linkEntry.optional(),
  }),
  z.object({
    kind: z.literal('update'),
    ...place,
    before: fileBefore,
    after: contentHash,
    mode: z.union([z.number(), z.literal('new')]).optional(),
    edits,
  }),
  z.object({
    kind: z.literal('delete'),
    ...place,
    before: z.union([fileBefore, z.object({ entry: linkEntry })]),
  }),
  z.object({
    kind: z.literal('move'),
    ...place,
    before: fileBefore,
    sourceEntry: storedEntry,
    toPath: z.string(),
    toName: z.string(),
    replaced: fileBefore.optional(),
    after: contentHash,
    edits,
  }),
]);

export const storedPatchError = z.object({
  /** One that is not known here comes from a later version. */
  kind: z.enum(patchErrorKinds).catch('access'),
  message: z.string(),
  hint: z.string().optional(),
  path: z.string().optional(),
  line: z.number().optional(),
}) satisfies z.ZodType<PatchError>;

export const storedSummary = z.object({ added: names, modified: names, deleted: names });
export const storedNotes = names;

export const storedRefusal = z.object({
  path: z.string(),
  reason: z.enum(['read-only', 'untrusted', 'outside', 'hidden', 'protected']),
  clause: z.enum(policyClauses),
  message: z.string(),
  hint: z.string(),
}) satisfies z.ZodType<WriteRefusal>;

export const storedPlan = z.object({
  changes: z.array(storedChange),
  summary: storedSummary,
  notes: storedNotes,
});

export type StoredChange = z.infer<typeof storedChange>;
export type StoredPlan = z.infer<typeof storedPlan>;
type StoredBefore = z.infer<typeof fileBefore>;

export function storePlan({ changes, summary, notes }: Plan): {
  readonly stored: StoredPlan;
  readonly blobs: Blobs;
} {
  const blobs: Blobs = new Map();
  const stored = {
    changes: changes.map((change) => storeChange(change, blobs)),
    summary: storeSummary(summary),
    notes: [...notes],
  };
  return { stored, blobs };
}

/** Throws when one of the contents is missing. */
export function restorePlan({ changes, summary, notes }: StoredPlan, blobs: Blobs): Plan {
  return { changes: changes.map((change) => restoreChange(change, blobs)), summary, notes };
}

export function storeChange(change: PlannedChange, blobs: Blobs): StoredChange {
  return mapContents(change, (bytes: Buffer) => keepContent(bytes, blobs)) as StoredChange;
}

export function restoreChange(change: StoredChange, blobs: Blobs): PlannedChange {
  return mapContents(change, (name: string) => contentNamed(name, blobs)) as PlannedChange;
}

/** Gives the name. */
export function keepContent(bytes: Buffer, blobs: Blobs): string {
  const name = createHash('sha256').update(bytes).digest('hex');
  blobs.set(name, bytes);
  return name;
}

export function contentNamed(name: string, blobs: Blobs): Buffer {
  const bytes = blobs.get(name);
  if (bytes === undefined) {
    throw new Error(`The content ${name} is missing.`);
  }
  return bytes;
}

/** The contents that a stored change needs. */
export function contentsOf(change: StoredChange): readonly string[] {
  const found: string[] = [];
  mapContents(change, (name: string) => found.push(name));
  return found;
}

export function storeSummary({ added, modified, deleted }: PatchSummary): z.infer<typeof storedSummary> {
  return { added: [...added], modified: [...modified], deleted: [...deleted] };
}

type Contents<T> = { readonly after?: T; readonly before?: unknown; readonly replaced?: unknown };

/** The change with each of its contents replaced. */
function mapContents<A, B>(item: Contents<A> & object, map: (content: A) => B): object {
  const mapBefore = (before: unknown): unknown =>
    isFileBefore<A>(before) ? { ...before, bytes: map(before.bytes) } : before;
  return {
    ...item,
    ...('before' in item ? { before: mapBefore(item.before) } : {}),
    ...('replaced' in item ? { replaced: mapBefore(item.replaced) } : {}),
    ...(item.after === undefined ? {} : { after: map(item.after) }),
  };
}

function isFileBefore<A>(before: unknown): before is Omit<StoredBefore, 'bytes'> & { readonly bytes: A } {
  return typeof before === 'object' && before !== null && 'bytes' in before;
}
