import { errorCodes, RpcError } from '../../protocol/errors.ts';

/**
 * Decodes standard base64 exactly: padded, without white space or other alphabets, all of which Node would let pass.
 * Throws an {@link RpcError} that begins with `what` and names the fault.
 */
export function decodeBase64(text: string, what: string, code: number = errorCodes.invalidRequest): Buffer {
  const problem = problemOf(text);
  if (problem !== undefined) {
    throw new RpcError(code, `${what}${problem}`);
  }
  return Buffer.from(text, 'base64');
}

function problemOf(text: string): string | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const foreign = text.slice(0, text.length - padding).search(/[^A-Za-z0-9+/]/);
  if (foreign >= 0) {
    return `Invalid symbol ${text.charCodeAt(foreign)}, offset ${foreign}.`;
  }
  if (text.length % 4 !== 0) {
    return 'Invalid padding';
  }
  const end = text.slice(-4);
  const last = text.length - padding - 1;
  return Buffer.from(end, 'base64').toString('base64') === end
    ? undefined
    : `Invalid last symbol ${text.charCodeAt(last)}, offset ${last}.`;
}
