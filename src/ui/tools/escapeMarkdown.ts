/**
 * Markdown that shows exactly this text, all of it, in the card of the chat. VS Code's `appendText` makes
 * every space unbreakable, so that the end of a long command disappears behind the edge of the card, and
 * leaves `&`, `<`, `$` and addresses their meaning.
 */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/\S{20}(?=\S)/gu, `$&${zeroWidthSpace}`)
    .replace(/[\\`*_{}[\]()<>#+\-.!~&$|:@=]/g, '\\$&')
    .replace(/^[ \t]+|[ \t]{2,}/gm, keepSpaces)
    .replace(/\r\n?|\n/g, '\n\n');
}

/** Lets a line break inside a long word. */
const zeroWidthSpace = '\u200b';

/** Every other space stays an ordinary one, where the line can break. */
function keepSpaces(spaces: string): string {
  return Array.from(spaces, (_, index) => (index % 2 === 0 ? '&nbsp;' : ' ')).join('');
}
