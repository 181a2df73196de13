import type { Checkpoint, CheckpointFile } from '../../patch/checkpoint/checkpoint.ts';
import { timeWords } from '../timeWords.ts';

/** What a patch did to a file, in a letter, as source control shows it. */
export function fileLetter({ before, after, movedFrom }: CheckpointFile): 'A' | 'M' | 'D' | 'R' {
  if (movedFrom !== undefined) {
    return 'R';
  }
  return before.kind === 'missing' ? 'A' : after.kind === 'missing' ? 'D' : 'M';
}

export const letterWords = { A: 'added', M: 'modified', D: 'deleted', R: 'renamed' } as const;

/** The files as a person counts them: the two places of a rename are one. */
export function shownFiles({ files }: Checkpoint): readonly CheckpointFile[] {
  const sources = new Set(files.map(({ movedFrom }) => movedFrom));
  return files.filter(({ path }) => !sources.has(path));
}

/** When it was made, and for how much. */
export function checkpointSummary(checkpoint: Checkpoint, now: Date): string {
  const count = shownFiles(checkpoint).length;
  return `${timeWords(checkpoint.createdAt, now)} · ${count} ${count === 1 ? 'file' : 'files'}`;
}
