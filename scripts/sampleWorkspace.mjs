// A small project to try Cordon on, and for the suites to work in.
import { execFile } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './project.mjs';

const exec = promisify(execFile);

/** Copies the sample project to `folder`, as a Git repository with one commit. */
export async function createSampleWorkspace(folder) {
  await mkdir(folder, { recursive: true });
  await cp(join(root, 'test', 'fixtures', 'sample-workspace'), folder, { recursive: true });
  const git = (...args) =>
    exec('git', ['-c', 'user.name=Cordon', '-c', 'user.email=cordon@example.invalid', ...args], {
      cwd: folder,
    });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '.');
  await git('commit', '--quiet', '--no-verify', '--no-gpg-sign', '-m', 'Sample project');
  return folder;
}
