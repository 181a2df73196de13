import type { Entry, FileChange, FileSystem } from '../files/fileSystem.ts';
import type { FileStep } from './fileChanges.ts';
import { beforeAt } from './fileChanges.ts';

/**
 * The change with the entries as they are now, when every file still has the content that the plan was made for: it
 * was touched, or one of its links changed. Undefined when anything really changed.
 */
export async function withTodaysEntries(step: FileStep, files: FileSystem): Promise<FileChange | undefined> {
  const { change } = step;
  const expected = await todaysEntry(step, change.path, change.expected, files);
  if (expected === undefined || change.kind !== 'rename') {
    return expected && { ...change, expected };
  }
  const toExpected = await todaysEntry(step, change.toPath, change.toExpected, files);
  return toExpected && { ...change, expected, toExpected };
}

async function todaysEntry(
  step: FileStep,
  path: string,
  expected: Entry,
  files: FileSystem,
): Promise<Entry | undefined> {
  const before = beforeAt(step, path);
  if (before === undefined || expected.kind !== 'file') {
    return expected;
  }
  const entry = await files.stat(path);
  const isUnchanged =
    entry.kind === 'file' &&
    entry.size === before.bytes.length &&
    (await files.read(path)).equals(before.bytes);
  return isUnchanged ? entry : undefined;
}
