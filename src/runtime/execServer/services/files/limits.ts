import { constants } from 'node:buffer';

const mebibyte = 1024 * 1024;

/** Of `fs/readFile`, in bytes. */
export const longestFile = 512 * mebibyte;

/** What one message can carry as base64: no string is longer. The rest of the message takes less than the margin. */
export const longestInOneMessage = Math.floor((constants.MAX_STRING_LENGTH - 4096) / 4) * 3;

/** Bytes of base64 in one answer to `fs/readFile`. */
export const longestAnswer = base64Length(longestInOneMessage);

/** Read whole without waiting for others: in bytes, as much as a block. */
export const smallFile = mebibyte;

/** Of a folder or a tree: listed without waiting for others, in bytes of the answer. */
export const smallListing = 256 * 1024;

export function base64Length(bytes: number): number {
  return 4 * Math.ceil(bytes / 3);
}

/** Between server and worker: a file had more than was expected of it. Clients never see it. */
export const outgrown = -32_099;

/** Of `fs/readDirectory`, in entries. */
export const longestListing = 50_000;
/** In bytes of the answer, around each name, which is escaped as JSON: at worst six for one. */
export const bytesPerListed = 56;
export const largestListing = longestListing * (6 * 255 + bytesPerListed);

/** Of `fs/readBlock` and `fs/writeBlock`, in bytes. */
export const longestBlock = mebibyte;

export const longestHandleId = 32;
export const mostHandles = 128;

export const walkMaximums = { maxDepth: 64, maxDirectories: 10_000, maxEntries: 50_000 } as const;
/** Of an answer to `fs/walk`, in bytes. */
export const walkBudget = 4 * mebibyte;
/** With every byte of a path as three of a URI. */
export const largestWalk = 3 * walkBudget;

/** Of one `fs/watchMissing`. */
export const mostMissing = 64;
