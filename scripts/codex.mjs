// The peer that benchmarks and `npm run test:interop` compare with: the Codex binary from npm.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { installPeer } from './installPeer.mjs';

export const codexVersion = '0.171.0';

/** The path of the native program; installs it when it is not there yet. */
export async function ensureCodex() {
  const folder = await installPeer('codex', '@openai/codex', codexVersion);
  const scope = join(folder, 'node_modules', '@openai');
  const program = join('bin', process.platform === 'win32' ? 'codex.exe' : 'codex');
  const names = await readdir(scope, { recursive: true });
  const found = names.find((name) => name.includes('vendor') && name.endsWith(program));
  if (found === undefined)
    throw new Error(`@openai/codex ${codexVersion} has no program for this machine in ${folder}.`);
  return join(scope, found);
}
