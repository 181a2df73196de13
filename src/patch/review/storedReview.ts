import { policyClauses } from '../../sandbox/policy/policy.ts';
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Entry, FileEntry, LinkEntry } from '../files/fileSystem.ts';
import type { Plan, PlannedChange } from '../plan/plan.ts';
import type { PatchError, PatchErrorKind } from '../patchError.ts';
import { splitLines } from '../text/lines.ts';
import { withRight } from './pieces.ts';
import type { Review } from './review.ts';
import { createReviewFile, hunksOf, mapHunks, textRight } from './reviewFile.ts';
import type { ReviewFile } from './reviewFile.ts';

/** Contents that a stored review names by their hash. */
export type Blobs = Map<string, Buffer>;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const names = z.array(z.string());
const fileEntry = z.object({
  kind: z.literal('file'),
  mode: z.number(),
  size: z.number(),
  version: z.string(),
}) satisfies z.ZodType<FileEntry>;
const linkEntry = z.object({ kind: z.literal('link'), target: z.string() }) satisfies z.ZodType<LinkEntry>;
const entry = z.union([
  fileEntry,
  linkEntry,
  z.object({ kind: z.enum(['missing', 'folder', 'other']) }),
]) satisfies z.ZodType<Entry>;
const fileBefore = z.object({ entry: fileEntry, bytes: hash });
const edits = z.array(z.object({ start: z.number(), removed: z.number(), added: names })).optional();
const place = { path: z.string(), name: z.string() };

const change = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('create'),
    ...place,
    after: hash,
    mode: z.number().optional(),
    replaces: linkEntry.optional(),
  }),
  z.object({
    kind: z.literal('update'),
    ...place,
    before: fileBefore,
    after: hash,
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
    sourceEntry: entry,
    toPath: z.string(),
    toName: z.string(),
    replaced: fileBefore.optional(),
    after: hash,
    edits,
  }),
]);

const patchError = z.object({
  kind: z.string().transform((kind) => kind as PatchErrorKind),
  message: z.string(),
  hint: z.string().optional(),
  path: z.string().optional(),
  line: z.number().optional(),
}) satisfies z.ZodType<PatchError>;

/** A review on disk; its contents lie beside it. */
export const storedReviewSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  createdAt: z.number(),
  title: z.string(),
  text: z.string().optional(),
  cwd: z.string(),
  root: z.string(),
  summary: z.object({ added: names, modified: names, deleted: names }),
  notes: names,
  refusals: z.array(
    z.object({
      path: z.string(),
      reason: z.enum(['read-only', 'untrusted', 'outside', 'hidden', 'protected']),
      clause: z.enum(policyClauses),
      message: z.string(),
      hint: z.string(),
    }),
  ),
  comment: z.string().optional(),
  state: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('waiting'), failure: patchError.optional() }),
    z.object({ kind: z.literal('obsolete'), error: patchError }),
  ]),
  files: z.array(
    z.object({
      change,
      decision: z.enum(['pending', 'accepted', 'rejected']),
      comment: z.string().optional(),
      right: hash.optional(),
      hunks: z.array(z.object({ isAccepted: z.boolean(), comment: z.string().optional() })),
    }),
  ),
});

export type StoredReview = z.infer<typeof storedReviewSchema>;
type StoredChange = StoredReview['files'][number]['change'];
type StoredBefore = z.infer<typeof fileBefore>;

export function storeReview(review: Review): { readonly stored: StoredReview; readonly blobs: Blobs } {
  const blobs: Blobs = new Map();
  const keep = (bytes: Buffer): string => {
    const name = createHash('sha256').update(bytes).digest('hex');
    blobs.set(name, bytes);
    return name;
  };
  const { plan, files, refusals, ...rest } = review;
  const stored: StoredReview = {
    version: 1,
    ...rest,
    summary: {
      added: [...plan.summary.added],
      modified: [...plan.summary.modified],
      deleted: [...plan.summary.deleted],
    },
    notes: [...plan.notes],
    refusals: [...refusals],
    files: files.map((file) => {
      const right = textRight(file);
      return {
        change: mapContents(file.change, keep) as StoredChange,
        decision: file.decision,
        comment: file.comment,
        right: right === undefined ? undefined : keep(Buffer.from(right)),
        hunks: hunksOf(file).map(({ isAccepted, comment }) => ({ isAccepted, comment })),
      };
    }),
  };
  return { stored, blobs };
}

/** The contents that a stored review needs. */
export function blobsOf({ files }: StoredReview): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { change: item, right } of files) {
    mapContents(item, (name) => found.add(name));
    if (right !== undefined) {
      found.add(right);
    }
  }
  return found;
}

export function restoreReview(stored: StoredReview, blobs: Blobs): Review {
  const { id, createdAt, title, text, cwd, root, refusals, comment, state, summary, notes, files } = stored;
  const content = (name: string): Buffer => {
    const bytes = blobs.get(name);
    if (bytes === undefined) {
      throw new Error(`The content ${name} of the review ${id} is missing.`);
    }
    return bytes;
  };
  const restored = files.map((file): ReviewFile => {
    const fresh = createReviewFile(mapContents(file.change, content) as PlannedChange);
    const lines = file.right === undefined ? [] : splitLines(content(file.right).toString());
    const pieces = fresh.pieces && withRight(fresh.pieces, lines);
    return {
      ...fresh,
      decision: file.decision,
      comment: file.comment,
      pieces: mapHunks({ pieces }, (hunk, index) => ({ ...hunk, ...file.hunks[index] })),
    };
  });
  const plan: Plan = { changes: restored.map((file) => file.change), summary, notes };
  return { id, createdAt, title, text, cwd, root, refusals, comment, state, plan, files: restored };
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
