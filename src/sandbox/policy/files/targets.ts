import { isAbsolute, join, normalize, relative } from 'node:path';
import picomatch from 'picomatch';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { Location } from './locate.ts';
import { locate } from './locate.ts';
import type { Surroundings } from './places.ts';
import { basesOf, locationsOf, places, repositoriesAround } from './places.ts';

/** What a key of the setting `files` stands for on this machine. */
export type Target =
  | { readonly kind: 'paths'; readonly locations: readonly Location[] }
  | { readonly kind: 'globs'; readonly globs: readonly { readonly folder: string; readonly glob: string }[] };

/**
 * Reads a key: a path (absolute, from `~`, or relative to the root), a place with or without a path behind it, or a
 * glob, which is what has a `*`, a `?` or a `{` in it. Fails with what the key must be.
 */
export function readTarget(key: string, around: Surroundings): Result<Target, string> {
  if (key.includes('\0')) {
    return fail('a path without a zero byte');
  }
  if (key.startsWith(':')) {
    return readPlace(key, around);
  }
  if (/^~(?!$|\/)/.test(key)) {
    return fail('a path in your own home folder ("~/…"), or an absolute path');
  }
  if (key.startsWith('~')) {
    return readBelow([around.homeDir], key.slice(2), around);
  }
  if (isAbsolute(key)) {
    return readBelow(['/'], key.slice(1), around);
  }
  if (key === '') {
    return fail('a path: "." stands for the root itself');
  }
  if (leavesRoot(key)) {
    return fail('a path inside the root, or an absolute path: ".." leads out of the root');
  }
  // What a pattern hides at every depth, it hides in the rest of the repository, too.
  const [repository] = key.startsWith('**/') ? repositoriesAround(around) : [];
  return readBelow([repository ?? around.root], key, around);
}

function readPlace(key: string, around: Surroundings): Result<Target, string> {
  const [name = '', ...inner] = key.split('/');
  const place = places.find((known) => known === name);
  if (place === undefined) {
    return fail(`a path or one of the places ${places.join(', ')}`);
  }
  if (inner.length === 0) {
    return ok({ kind: 'paths', locations: locationsOf(place, around) });
  }
  const bases = basesOf(place, around);
  if (bases === undefined) {
    return fail(`"${place}" alone: it stands for several places, which have no common inside`);
  }
  const path = inner.join('/');
  return leavesRoot(path)
    ? fail(`a path inside ${place}: ".." leads out of it`)
    : readBelow(bases, path, around);
}

function readBelow(bases: readonly string[], path: string, around: Surroundings): Result<Target, string> {
  if (!/[*?{]/.test(path)) {
    const locations = bases.map((base) => locate(withoutEnd(join(base, path)), around));
    return ok({ kind: 'paths', locations });
  }
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const at = names.findIndex((name) => /[*?{[]/.test(name));
  const glob = names.slice(at).join('/');
  if (names.slice(at).includes('..')) {
    return fail('a glob without ".." behind its first wildcard');
  }
  const flaw = flawOf(glob);
  if (flaw !== undefined) {
    return fail(`a valid glob (${flaw})`);
  }
  const folders = bases.map((base) => locate(withoutEnd(join(base, ...names.slice(0, at))), around).path);
  return ok({ kind: 'globs', globs: folders.map((folder) => ({ folder, glob })) });
}

function leavesRoot(path: string): boolean {
  return relative('/r', normalize(`/r/${path}`)).startsWith('..') || normalize(path).startsWith('..');
}

function withoutEnd(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') : path;
}

const flaws = new Map<string, string | undefined>();

/** What is wrong with a glob, found once: an unclosed brace would silently match nothing. */
function flawOf(glob: string): string | undefined {
  if (!flaws.has(glob)) {
    flaws.set(glob, findFlaw(glob));
  }
  return flaws.get(glob);
}

function findFlaw(glob: string): string | undefined {
  try {
    picomatch.makeRe(glob, { strictBrackets: true });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
