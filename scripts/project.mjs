// What every script needs to know about this checkout.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** The Node that the project pins; the caller's own may be older. */
export function projectNode() {
  const pinned = join(root, 'node_modules', 'node', 'bin', 'node');
  return existsSync(pinned) ? pinned : process.execPath;
}

/** Runs a program with the caller's output and resolves to its exit code (128 + n after signal n). */
export function runProgram(command, args, options = {}) {
  return new Promise((resolveCode, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], cwd: root, ...options });
    child.once('error', reject);
    child.once('exit', (code) => resolveCode(code ?? 128));
  });
}

/** Runs a JavaScript command-line tool from node_modules, such as `eslint/bin/eslint.js`. */
export function runTool(script, args, options) {
  return runProgram(projectNode(), [join(root, 'node_modules', script), ...args], options);
}
