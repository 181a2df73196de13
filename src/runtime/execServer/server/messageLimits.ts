/** Of the reference: more, in one message, is answered as malformed. */
const maxValues = 262_144;
const maxDepth = 128;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/**
 * Whether a text, should it be JSON, has few enough values that are nested little enough to be parsed: a small message
 * must not become a hundred times its size in memory.
 */
export function isWithinLimits(text: string): boolean {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at + 1);
        break;
      case comma:
        values++;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        values += isEmptyFrom(text, at + 1) ? 0 : 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
    }
    if (values > maxValues || depth > maxDepth) {
      return false;
    }
  }
  return true;
}

/** Index of the closing quote: strings are most of a big message, and are not looked into. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) {
      slashes++;
    }
    if (slashes % 2 === 0) {
      return at;
    }
  }
  return text.length;
}

function isEmptyFrom(text: string, from: number): boolean {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) {
      return code === 0x5d || code === 0x7d;
    }
  }
  return false;
}
