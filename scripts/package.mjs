// `npm run package`: an installable .vsix for this platform. Packs a staging folder, so that neither the
// development build in dist/ nor what a checkout holds besides can end up in it.
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createVSIX } from '@vscode/vsce';
import { build } from '../esbuild.mjs';
import { root } from './project.mjs';

export const target = `${process.platform}-${process.arch}`;

/** Builds for production, packs, and gives the path of the .vsix. */
export async function createPackage({ folder = root } = {}) {
  const stage = await mkdtemp(join(tmpdir(), 'cordon-stage-'));
  try {
    await build({ production: true, outdir: join(stage, 'dist') });
    for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE', 'media', '.vscodeignore']) {
      if (existsSync(join(root, name))) await cp(join(root, name), join(stage, name), { recursive: true });
    }
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    // Everything is bundled: what only a checkout needs would mislead who reads the installed manifest.
    for (const key of ['scripts', 'dependencies', 'devDependencies', 'allowScripts', 'private'])
      delete manifest[key];
    await writeFile(join(stage, 'package.json'), JSON.stringify(manifest, undefined, 2));
    const packagePath = join(folder, `${manifest.name}-${target}-${manifest.version}.vsix`);
    await createVSIX({
      cwd: stage,
      packagePath,
      target,
      dependencies: false,
      allowMissingRepository: true,
      rewriteRelativeLinks: false,
    });
    return packagePath;
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const path = await createPackage();
  const { size } = await stat(path);
  console.log(`${relative(process.cwd(), path)} (${(size / 1024 / 1024).toFixed(2)} MB)`);
}
