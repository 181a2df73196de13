import * as z from 'zod';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const absolutePath = z.string().regex(/^(\/|[A-Za-z]:[\\/])/);

const fileState = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('missing') }),
  z.object({
    kind: z.literal('file'),
    /** SHA-256 of the content, in hexadecimal. */
    hash,
    size: z.int().nonnegative(),
    /** Permission bits; not known of a file that the patch creates. */
    mode: z.int().nonnegative().max(0o7777).optional(),
  }),
  z.object({ kind: z.literal('link'), target: z.string() }),
]);

const checkpointFile = z.object({
  path: absolutePath,
  /** As the patch named it. */
  name: z.string(),
  before: fileState,
  after: fileState,
  /** Where the patch moved the content from; the source has an entry of its own. */
  movedFrom: absolutePath.optional(),
});

/** The shape on disk. What does not fit is not offered, and is left alone in case a newer version wrote it. */
export const checkpointSchema = z.object({
  /** 2: of another machine, which a build that only knows 1 must not take for one of this machine. */
  version: z.union([z.literal(1), z.literal(2)]),
  id: z.string().regex(/^\d+-[0-9a-f]{8}$/),
  createdAt: z.iso.datetime(),
  /** What a person sees the patch as. */
  title: z.string(),
  /** The root whose policy the patch was applied under. */
  root: absolutePath,
  /** The other machine that has the files; every path is one of it then. */
  machine: z.object({ environment: z.string(), folder: z.string() }).optional(),
  /** What the names are relative to. */
  cwd: absolutePath,
  files: z.array(checkpointFile).min(1),
  /** Folders that the patch had to make. */
  newFolders: z.array(absolutePath),
});

/** What the files of one patch were before it was applied, and what they became. */
export type Checkpoint = z.infer<typeof checkpointSchema>;
export type CheckpointFile = z.infer<typeof checkpointFile>;
export type FileState = z.infer<typeof fileState>;
