import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import picomatch from 'picomatch';
import type { HiddenGlob } from '../../../../sandbox/policy/fileRules.ts';
import { globMatcher, unsearchedFolders } from '../../../../sandbox/policy/fileRules.ts';
import { locate } from '../../../../sandbox/policy/files/locate.ts';
import type { ContextMachine } from './contextMachine.ts';
import { invalid } from './entryTargets.ts';

/** A pattern as Cordon's policies have them. */
export type DenyGlob = Pick<HiddenGlob, 'folder' | 'glob'>;

/** More would make a client wait for each of its commands. */
const mostEntries = 200_000;

/** Reads a pattern, which is absolute or relative to the folder; undefined for a path without wildcards. */
export function readGlob(
  pattern: string,
  cwd: string | undefined,
  machine: ContextMachine,
): DenyGlob | { readonly path: string } {
  const base = isAbsolute(pattern) ? '/' : cwd;
  if (base === undefined) {
    throw invalid(`the pattern "${pattern}" is relative: it needs a cwd in the sandbox context`);
  }
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..') || pattern.includes('\0')) {
    throw invalid(`the pattern "${pattern}" must not have ".." in it`);
  }
  const at = names.findIndex((name) => /[*?[{]/.test(name));
  if (at < 0) {
    return { path: join(base, ...names.map(unescaped)) };
  }
  const glob = names.slice(at).map(inOurWords).join('/');
  try {
    picomatch.makeRe(glob, { strictBrackets: true });
  } catch (error) {
    throw invalid(`the pattern "${pattern}" is not valid: ${(error as Error).message}`);
  }
  return { folder: locate(join(base, ...names.slice(0, at).map(unescaped)), machine).path, glob };
}

function unescaped(name: string): string {
  return name.replace(/\\(.)/g, '$1');
}

/** Only `*`, `?`, `[…]` and `{…}` mean something in the protocol's patterns; picomatch knows more. */
function inOurWords(name: string): string {
  return name
    .replaceAll('[!', '[^')
    .replace(/[()|+@!"$]/g, '\\$&')
    .replace(/^\^/, '\\^');
}

/**
 * The matches that policies do not search for, because nobody keeps secrets there: whoever sends a pattern over the
 * wire means these, too. Links are not followed.
 */
export async function unsearchedMatches(
  { folder, glob }: DenyGlob,
  maxDepth: number = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const isMatch = globMatcher(glob);
  const found: string[] = [];
  const waiting = [{ names: [] as readonly string[], isUnsearched: false }];
  let seen = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entries = await entriesOf(join(folder, ...at.names));
    seen += entries.length;
    if (seen > mostEntries) {
      throw invalid(`${folder} holds too much to search it for "${glob}": deny what is meant by its path`);
    }
    for (const entry of entries) {
      const names = [...at.names, entry.name];
      const isUnsearched = at.isUnsearched || unsearchedFolders.has(entry.name);
      if (isMatch(names.join('/'))) {
        if (isUnsearched) {
          found.push(join(folder, ...names));
        }
      } else if (entry.isDirectory() && names.length < maxDepth) {
        waiting.push({ names, isUnsearched });
      }
    }
  }
  return found;
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // Not there, or not for this user: the command is the same user.
    return [];
  }
}
