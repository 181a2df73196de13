import * as z from 'zod';
import { fileUri } from './fileUri.ts';
import { sandboxContext } from './sandboxContext.ts';

const target = { path: fileUri, sandbox: sandboxContext.nullish() };
const following = { ...target, followSymlinks: z.boolean().default(true) };
const handleId = z.string();

export const readFileParams = z.object(following);
export const readFileResult = z.object({ dataBase64: z.string() });
export const writeFileParams = z.object({ ...following, dataBase64: z.string() });
export const createDirectoryParams = z.object({ ...following, recursive: z.boolean().default(true) });
export const getMetadataParams = z.object(following);
export const getMetadataResult = z.object({
  isDirectory: z.boolean(),
  isFile: z.boolean(),
  /** Of the entry itself; everything else is of what it leads to. */
  isSymlink: z.boolean(),
  size: z.number(),
  createdAtMs: z.number(),
  modifiedAtMs: z.number(),
});
export const canonicalizeParams = z.object(target);
export const canonicalizeResult = z.object({ path: z.string() });
export const readDirectoryParams = z.object(target);
export const readDirectoryResult = z.object({
  entries: z.array(z.object({ fileName: z.string(), isDirectory: z.boolean(), isFile: z.boolean() })),
});
export const walkParams = z.object({
  ...target,
  /** The ranges are checked by the method: above them is an invalid request, not invalid params. */
  options: z.object({
    maxDepth: z.int().min(0),
    maxDirectories: z.int().min(0),
    maxEntries: z.int().min(0),
    followDirectorySymlinks: z.boolean(),
    pruneHiddenDirectories: z.boolean().default(false),
  }),
});
export const walkResult = z.object({
  entries: z.array(z.object({ path: z.string(), kind: z.enum(['file', 'directory']) })),
  errors: z.array(z.object({ path: z.string(), message: z.string() })),
  truncated: z.boolean(),
});
export const removeParams = z.object({
  ...following,
  recursive: z.boolean().default(true),
  force: z.boolean().default(true),
});
export const copyParams = z.object({
  sourcePath: fileUri,
  destinationPath: fileUri,
  recursive: z.boolean(),
  sandbox: sandboxContext.nullish(),
});
export const openParams = z.object({
  ...target,
  handleId,
  mode: z.enum(['read', 'replace']).default('read'),
});
export const openResult = z.object({ handleId });
export const readBlockParams = z.object({ handleId, offset: z.int().min(0), len: z.int() });
export const readBlockResult = z.object({ chunk: z.string(), eof: z.boolean() });
export const writeBlockParams = z.object({ handleId, offset: z.int().min(0), chunk: z.string() });
export const closeParams = z.object({ handleId });
export const watchMissingParams = z.object({
  watchId: z.int().min(0),
  missing: z.array(fileUri),
  present: fileUri.nullish(),
  sandbox: sandboxContext.nullish(),
});
export const watchMissingResult = z.object({ watching: z.boolean() });
export const missingChangedEvent = z.object({ watchId: z.int() });
