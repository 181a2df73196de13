import { fileURLToPath, pathToFileURL } from 'node:url';
import * as z from 'zod';
import { errorCodes, RpcError } from './errors.ts';

/**
 * A path on the wire: a `file:` URI, percent-encoded UTF-8. Also read: the host `localhost`, the scheme in capitals,
 * dot segments, and `file:rel`, which means `/rel`. Refused: plain paths, other schemes, a query or fragment.
 */
export const fileUri = z.string().superRefine((text, context) => {
  const problem = problemOf(text);
  if (problem !== undefined) {
    context.addIssue({ code: 'custom', message: problem });
  }
});

/** The URI of an absolute path of this machine. */
export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}

/** The native path that a URI stands for. Throws an {@link RpcError} when it means another machine, or no path here. */
export function pathOf(uri: string): string {
  try {
    const url = new URL(uri);
    if (url.hostname === 'localhost') {
      url.hostname = '';
    }
    const path = fileURLToPath(url);
    if (path.includes('\0')) {
      throw new TypeError('it holds a NUL');
    }
    return path;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RpcError(errorCodes.invalidParams, `the URI ${uri} is not valid on this host: ${reason}`);
  }
}

function problemOf(text: string): string | undefined {
  if (!URL.canParse(text)) {
    return 'invalid URI: relative URL without a base';
  }
  const url = new URL(text);
  if (url.protocol !== 'file:') {
    return `invalid URI: the scheme must be file, not ${url.protocol.slice(0, -1)}`;
  }
  return /[?#]/.test(text) ? 'invalid URI: a file URI has neither query nor fragment' : undefined;
}
