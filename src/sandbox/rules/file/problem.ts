/** Where something stands in a text: an index into it. */
export type Offset = number;

/** What a file says that the language of rules has no place for. */
export class RuleSyntaxError extends Error {
  readonly offset: Offset;

  constructor(offset: Offset, found: string, expected: string) {
    super(`found ${found}, but expected ${expected}`);
    this.offset = offset;
  }
}

/** `line:column`, both from 1; columns count characters as editors do. */
export function positionOf(text: string, offset: Offset): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}
