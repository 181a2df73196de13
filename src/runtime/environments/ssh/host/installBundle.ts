import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { BundleFile } from '../hostWords.ts';
import { whyNotIntact } from './verifyBundle.ts';

/** What arrived is not what was announced. */
export class BadUpload extends Error {}

/** Of folders in the making and on their way out: names that no bundle has. */
const unfinished = '.';

/** Puts the files in place in one step. Throws {@link BadUpload}, and has then put nothing there. */
export function installBundle(folder: string, files: readonly BundleFile[], packed: Buffer): void {
  const beside = (): string => join(dirname(folder), `${unfinished}${randomBytes(8).toString('hex')}`);
  const made = beside();
  try {
    write(made, files, unpack(files, packed));
    const problem = whyNotIntact(made, files);
    if (problem !== undefined) {
      throw new BadUpload(problem);
    }
    replace(folder, made, beside());
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function unpack(files: readonly BundleFile[], packed: Buffer): Buffer {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  try {
    const bytes = gunzipSync(packed, { maxOutputLength: Math.max(total, 1) });
    if (bytes.length === total) {
      return bytes;
    }
  } catch (error) {
    throw new BadUpload(String(error));
  }
  throw new BadUpload(`it does not have ${total} bytes`);
}

function write(folder: string, files: readonly BundleFile[], bytes: Buffer): void {
  mkdirSync(folder, { mode: 0o700 });
  let offset = 0;
  for (const { path, size, isExecutable } of files) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(target, bytes.subarray(offset, offset + size), { mode: isExecutable ? 0o700 : 0o600 });
    offset += size;
  }
}

/** A folder that is not empty cannot be renamed over: what stands there is moved aside, and then removed. */
function replace(folder: string, made: string, aside: string): void {
  try {
    renameSync(made, folder);
    return;
  } catch (error) {
    if (!isOccupied.has((error as NodeJS.ErrnoException).code)) {
      throw error;
    }
  }
  renameSync(folder, aside);
  renameSync(made, folder);
  rmSync(aside, { recursive: true, force: true });
}

const isOccupied: ReadonlySet<string | undefined> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR']);

const dayMs = 24 * 60 * 60 * 1000;
const keptMs = 14 * dayMs;

/** Keeps a bundle from being removed for the next days. */
export function markUsed(folder: string): void {
  const now = new Date();
  utimesSync(folder, now, now);
}

/** Removes bundles that nobody has used for {@link keptMs}, and what a broken installation left. */
export function removeUnused(installFolder: string, used: string): void {
  for (const name of readdirSync(installFolder)) {
    const path = join(installFolder, name);
    const age = Date.now() - statSync(path).mtimeMs;
    if (path !== used && age > (name.startsWith(unfinished) ? dayMs : keptMs)) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}
