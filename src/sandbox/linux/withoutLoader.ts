/** The dynamic loader would obey them in the launcher, before anything is confined. */
export function withoutLoader(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(LD|DYLD)_/i.test(name)));
}
