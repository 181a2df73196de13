import type { Grantable } from './grant.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';

/** What a widening or grant opens, as the end of "Allow …". */
export function describeWidening(what: Widening | Grantable): string {
  switch (what.kind) {
    case 'path':
      return `${what.access === 'read' ? 'reading' : 'writing to'} ${what.path}`;
    case 'host':
      return `connections to ${what.host}`;
    case 'socket':
      return `the socket ${what.path}`;
    case 'network':
      return 'the whole network';
    case 'mode':
      return 'writing in this folder';
    case 'unsandboxed':
      return 'running without a sandbox';
    case 'prefix':
      return `commands that begin with “${what.words.join(' ')}”`;
  }
}

/** Several of them, as the end of "Allow …". */
export function describeWidenings(widenings: readonly (Widening | Grantable)[]): string {
  return widenings.map(describeWidening).join(', ');
}
