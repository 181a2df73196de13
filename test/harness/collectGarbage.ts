import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

/** Frees what nobody holds any more, so that what memory is left is really held. */
export function collectGarbage(): void {
  collect();
  // Buffers are freed beside the program, which the next collection waits for.
  collect();
}
