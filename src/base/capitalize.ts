/** The text with a capital letter first, as a sentence begins. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
