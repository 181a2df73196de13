// The peer that benchmarks and `npm run test:interop` compare with: the Codex binary from npm, installed once per
// version into the cache outside the checkout, because it weighs more than everything else together.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from './vscodeServer.mjs';

export const codexVersion = '0.171.0';

/** The path of the native program; installs it when it is not there yet. */
export async function ensureCodex() {
  const folder = join(cacheFolder(), `codex-${codexVersion}`);
  if (!existsSync(folder)) await install(folder);
  const scope = join(folder, 'node_modules', '@openai');
  const program = join('bin', process.platform === 'win32' ? 'codex.exe' : 'codex');
  const names = await readdir(scope, { recursive: true });
  const found = names.find((name) => name.includes('vendor') && name.endsWith(program));
  if (found === undefined)
    throw new Error(`@openai/codex ${codexVersion} has no program for this machine in ${folder}.`);
  return join(scope, found);
}

async function install(folder) {
  const temporary = `${folder}.partial-${process.pid}`;
  await mkdir(temporary, { recursive: true });
  try {
    const args = [
      'install',
      '--prefix',
      temporary,
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      `@openai/codex@${codexVersion}`,
    ];
    const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm could not install @openai/codex ${codexVersion}:\n${stderr}`);
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}
