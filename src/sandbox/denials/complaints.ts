import type { Location } from '../policy/files/locate.ts';

/** What a program said about a path that it could not use. */
export interface Complaint {
  /** As it was printed; absent when the line names none. */
  readonly path?: string;
  readonly kind: 'read-only' | 'permission' | 'operation' | 'missing';
}

/** A complaint with the place that it is really about. */
export interface LocatedComplaint extends Complaint {
  readonly place?: Location;
}

const messagePattern =
  /^(.*?)(read-only file system|permission denied|operation not permitted|no such file or directory)(.*)$/gim;

/** The complaints in an output, in order. */
export function findComplaints(output: string): readonly Complaint[] {
  return [...output.matchAll(messagePattern)].map(([, before = '', text = '', after = '']) => {
    // Node and Python put the path behind the message: `EROFS: read-only file system, open '/x'`.
    const path = pathIn(before) ?? pathIn(after) ?? nameBefore(before);
    const kind = kinds[text.toLowerCase()] ?? 'permission';
    return path === undefined ? { kind } : { kind, path };
  });
}

const kinds: Readonly<Record<string, Complaint['kind']>> = {
  'read-only file system': 'read-only',
  'operation not permitted': 'operation',
  'no such file or directory': 'missing',
};

/** A quoted path is taken whole; of bare ones the last, because program and line number stand before it. */
function pathIn(text: string): string | undefined {
  const quoted = [...text.matchAll(/['"`‘“]([^'"`‘’“”]*\/[^'"`‘’“”]*)['"`’”]/g)].at(-1)?.[1];
  if (quoted !== undefined) {
    return quoted;
  }
  return [...text.matchAll(/(?:^|\s|unix:\/\/)((?:\/|~\/|\.{1,2}\/)[^\s:,]+)(?=\s*(?:[:,]|$))/g)].at(-1)?.[1];
}

/** A name without a folder, right before the message: `cat: .env: Permission denied`. */
function nameBefore(text: string): string | undefined {
  return /: ['"`‘“]?([^\s:'"`‘’“”]+)['"`’”]?: $/.exec(text)?.[1];
}
