/** True when a path of a settings file is a pattern. */
export function isGlob(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

/** `a/**` as `a`, which says the same and is enforced for names that appear later, too. */
export function wholeFolder(path: string): string {
  const folder = path.replace(/\/\*\*?\/?$/, '').replace(/(?<=.)\/+$/, '');
  return isGlob(folder) ? path : folder;
}
