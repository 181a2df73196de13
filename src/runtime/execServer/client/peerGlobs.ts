/**
 * A glob of a policy in the language of the protocol's patterns, which has `*`, `**`, `?`, `[…]` and `{…}` only. What
 * it cannot say becomes a `*`, so that it matches more and never less: whatever it matches is hidden.
 */
export function inWordsOfPeers(glob: string): string {
  const names = withoutExtended(glob)
    .replace(/\[\[:[^\]]*:\][^\]]*\]/g, '?')
    .replace(/\{[^{}]*\.\.[^{}]*\}/g, '*')
    .replaceAll('[^', '[!')
    .split('/');
  // Beside other characters two stars mean something else in each language.
  return names.map((name) => (name.includes('**') ? '**' : name)).join('/');
}

/** `!(a|b)`, `@(a)`, … from the inside out. */
function withoutExtended(glob: string): string {
  const plainer = glob.replace(/[!?*+@]?\([^()]*\)/g, '*');
  return plainer === glob ? glob : withoutExtended(plainer);
}

/** A path in a pattern that means itself. */
export function literally(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, '\\$&');
}
