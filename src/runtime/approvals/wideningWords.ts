import type { Grantable } from './grant.ts';
import { quoteWords } from '../../sandbox/commands/quoteWords.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';

/** A path as part of a sentence, which no name of a folder ends. */
export function pathWords(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}

/** What a widening or grant opens, as the end of "Allow …". */
export function describeWidening(what: Widening | Grantable): string {
  switch (what.kind) {
    case 'path':
      return `${what.access === 'read' ? 'reading' : 'writing to'} ${pathWords(what.path)}`;
    case 'host':
      return `connections to ${what.host}`;
    case 'socket':
      return `the socket ${pathWords(what.path)}`;
    case 'network':
      return 'the whole network';
    case 'mode':
      return 'writing in this folder';
    case 'unsandboxed':
      return 'running without a sandbox';
    case 'prefix':
      return `commands that begin with “${quoteWords(what.words)}”`;
  }
}

/** Several of them, as the end of "Allow …". */
export function describeWidenings(widenings: readonly (Widening | Grantable)[]): string {
  return widenings.map(describeWidening).join(', ');
}
