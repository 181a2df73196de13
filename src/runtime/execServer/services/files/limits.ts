import { constants } from 'node:buffer';

const mebibyte = 1024 * 1024;

/** Of `fs/readFile`, in bytes. */
export const longestFile = 512 * mebibyte;

/** What one message can carry as base64: no string is longer. The rest of the message takes less than the margin. */
export const longestInOneMessage = Math.floor((constants.MAX_STRING_LENGTH - 4096) / 4) * 3;

/** Of `fs/readDirectory`, in entries. */
export const longestListing = 50_000;

/** Of `fs/readBlock` and `fs/writeBlock`, in bytes. */
export const longestBlock = mebibyte;

export const longestHandleId = 32;
export const mostHandles = 128;

export const walkMaximums = { maxDepth: 64, maxDirectories: 10_000, maxEntries: 50_000 } as const;
/** Of an answer to `fs/walk`, in bytes. */
export const walkBudget = 4 * mebibyte;

/** Of one `fs/watchMissing`. */
export const mostMissing = 64;
