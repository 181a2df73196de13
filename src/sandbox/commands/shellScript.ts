const shells: ReadonlySet<string> = new Set(['bash', 'sh', 'zsh']);

/** Whose reading of a script counts: zsh finds more in it than the others do. */
export type ShellDialect = 'bash' | 'zsh';

/** The script of `bash -c SCRIPT`, `sh -lc SCRIPT` and the like; undefined for any other argv. */
export function shellScript(argv: readonly string[]): string | undefined {
  const [shell = '', flag, script, ...others] = argv;
  const isScript = (flag === '-c' || flag === '-lc') && others.length === 0;
  return isScript && shells.has(programName(shell)) ? script : undefined;
}

export function dialectOf([shell = '']: readonly string[]): ShellDialect {
  return programName(shell) === 'zsh' ? 'zsh' : 'bash';
}

const systemFolders =
  /^(?:\/(?:usr\/|usr\/local\/)?bin|\/opt\/(?:homebrew|local)\/bin|\/run\/current-system\/sw\/bin|\/nix\/store\/[^/]+\/bin)\/[^/]+$/;

/** Whether a program is found by its name or where systems have theirs: elsewhere, anything may bear the name. */
export function isOfTheSystem(path: string): boolean {
  return !/[/\\]/.test(path) || systemFolders.test(path);
}

/** A shell without a script, in which somebody will type. */
export function isInteractiveShell(argv: readonly string[]): boolean {
  const [shell = '', ...flags] = argv;
  return (
    [...shells, 'fish', 'dash', 'ksh'].includes(programName(shell)) &&
    flags.every((flag) => /^-[il]+$|^--(?:login|interactive|norc|noprofile)$/.test(flag))
  );
}

/** `git` for `/usr/bin/git`. */
export function programName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
