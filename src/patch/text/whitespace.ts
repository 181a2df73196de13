/**
 * White space as Unicode has it. JavaScript's own trimming differs from it, and so from the reference, in two
 * characters: it takes a byte order mark for white space and U+0085 for text.
 */
const spaces = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const leading = new RegExp(`^[${spaces}]+`);
const space = new RegExp(`[${spaces}]`);

export function trimStart(text: string): string {
  return text.replace(leading, '');
}

/** Walks from the end: a regular expression would try every run of blanks inside the text. */
export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && space.test(text.charAt(end - 1))) {
    end -= 1;
  }
  return end === text.length ? text : text.slice(0, end);
}

export function trim(text: string): string {
  return trimStart(trimEnd(text));
}

export function isBlank(text: string): boolean {
  return trimEnd(text) === '';
}
