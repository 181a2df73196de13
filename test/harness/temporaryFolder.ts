import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder {
  /** Absolute and canonical. */
  readonly path: string;
  readonly dispose: () => Promise<void>;
}

/** A fresh folder of its own, removed by `dispose`. */
export async function createTemporaryFolder(name = 'test'): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), `cordon-${name}-`)));
  return { path, dispose: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}
