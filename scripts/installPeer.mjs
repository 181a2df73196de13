import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from './vscodeServer.mjs';

/**
 * The folder into which a package from npm is installed, once per version, without running its scripts. It lies in
 * the cache outside the checkout, because the peers that benchmarks compare with weigh more than everything else.
 */
export async function installPeer(label, name, version) {
  const folder = join(cacheFolder(), `${label}-${version}`);
  if (!existsSync(folder)) await install(folder, `${name}@${version}`);
  return folder;
}

async function install(folder, what) {
  const temporary = `${folder}.partial-${process.pid}`;
  await mkdir(temporary, { recursive: true });
  try {
    const args = ['install', '--prefix', temporary, '--no-audit', '--no-fund', '--ignore-scripts', what];
    const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm could not install ${what}:\n${stderr}`);
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}
