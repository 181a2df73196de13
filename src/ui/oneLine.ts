/**
 * Text of a command in which nothing is hidden: characters that have no look of their own, or that turn the direction
 * of text, are written out. Line breaks and tabs stay.
 */
export function visibleText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu, (character) =>
      character === '\n' || character === '\t' ? character : writtenOut(character),
    );
}

/** The same as one line; `isWhole` is false when its end was cut off. */
export function oneLine(
  text: string,
  maxLength: number,
): { readonly text: string; readonly isWhole: boolean } {
  const line = visibleText(text).trim().replaceAll('\n', ' ↵ ').replaceAll('\t', ' ');
  const characters = [...line];
  return characters.length <= maxLength
    ? { text: line, isWhole: true }
    : { text: `${characters.slice(0, maxLength - 1).join('')}…`, isWhole: false };
}

/** For lists that draw `$(name)` as an icon: a character without width keeps it text. */
export function withoutIcons(text: string): string {
  return text.replaceAll('$(', '$\u200b(');
}

/** For notifications, which make links of `[text](address)`. */
export function withoutLinks(text: string): string {
  return text.replaceAll('](', ']\u200b(');
}

function writtenOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
