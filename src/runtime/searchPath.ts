import { basename } from 'node:path';

/**
 * The variables that bring the programs of a folder to a command: in front of its search path, and with what runs
 * them. A command that has no search path keeps the one that its shell makes up.
 */
export function searchPathVariables(path: string | undefined, folder: string): Record<string, string> {
  return { CORDON_NODE: process.execPath, ...(path !== undefined && { PATH: inFront(folder, path) }) };
}

/** An empty entry would mean the current folder. */
function inFront(folder: string, path: string): string {
  return path === '' ? folder : `${folder}:${path}`;
}

/**
 * A script for a login shell, whose profile may have set the search path anew: it puts the folder in front again.
 * On the script's first line, so that the line numbers in messages stay. Shells of other families are left alone.
 */
export function withSearchPath(shell: string, folder: string, script: string): string {
  switch (basename(shell)) {
    case 'bash':
    case 'zsh':
    case 'sh':
    case 'dash':
    case 'ksh':
      return `export PATH='${folder.replaceAll("'", `'\\''`)}'"\${PATH:+:$PATH}"; ${script}`;
    case 'fish':
      return `set -gx PATH '${folder.replace(/[\\']/g, '\\$&')}' $PATH; ${script}`;
    default:
      return script;
  }
}
