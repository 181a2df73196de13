import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const project = join(import.meta.dirname, '../..');
const isRoot = process.getuid?.() === 0;

/** The user without rights that root's tests become. */
export const nobody = isRoot ? 65534 : (process.getuid?.() ?? 0);

/** Why {@link runUnprivileged} cannot work here; undefined when it can. */
export const cannotRunUnprivileged = [process.execPath, project].every(isReachable)
  ? undefined
  : 'the checkout or Node lies in a folder that other users cannot enter';

/**
 * Runs an ES module as a user without rights, in a process of its own, and returns what it prints, as JSON. Its
 * imports are relative to the project; `env` is added to the environment.
 */
export function runUnprivileged(module: string, env: Readonly<Record<string, string>> = {}): unknown {
  const source = module.replaceAll("from './", `from '${project}/`);
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: '/',
    encoding: 'utf8',
    env: { ...process.env, ...env },
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  });
  return JSON.parse(output);
}

/** Whether everybody may pass all folders above. */
function isReachable(path: string): boolean {
  const folder = dirname(path);
  return !isRoot || ((statSync(folder).mode & 1) === 1 && (folder === '/' || isReachable(folder)));
}
