import type { Words } from './commandLine.ts';

/** What is dangerous about one command itself. */
export function dangerOf([path = '', ...args]: Words): 'dangerous' | 'forced-removal' | undefined {
  if (/(?:^|\/)rm$/.test(path) && args.slice(0, endOfOptions(args)).some(isForce)) {
    return 'forced-removal';
  }
  return isDangerousOnWindows(path, args) ? 'dangerous' : undefined;
}

function endOfOptions(args: Words): number {
  const end = args.indexOf('--');
  return end === -1 ? args.length : end;
}

/** `-f`, also among other letters, and `--force`, also shortened. */
function isForce(arg: string): boolean {
  return /^-[^-]*f|^--f(?:o(?:r(?:ce?)?)?)?$/.test(arg);
}

/** Forced removal, and addresses that are given to whatever program opens them. */
function isDangerousOnWindows(path: string, args: Words): boolean {
  const name = path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.exe$/, '');
  const words = args.map((arg) => arg.toLowerCase());
  const has = (flag: string) => words.includes(flag);
  switch (name) {
    case 'del':
    case 'erase':
      return has('/f') || words.some(isForceOfPowerShell);
    case 'rd':
    case 'rmdir':
      return (has('/s') && has('/q')) || words.some(isForceOfPowerShell);
    case 'remove-item':
    case 'ri':
    case 'rm':
      return words.some(isForceOfPowerShell);
    case 'start':
    case 'start-process':
    case 'saps':
    case 'invoke-item':
    case 'ii':
    case 'explorer':
    case 'mshta':
    case 'chrome':
    case 'msedge':
    case 'firefox':
    case 'iexplore':
      return words.some(hasAddress);
    case 'rundll32':
      return words.some((word) => word.includes('url.dll,fileprotocolhandler')) && words.some(hasAddress);
    default:
      return words.some((word) => /shellexecute|shell\.application/.test(word)) && words.some(hasAddress);
  }
}

/** `-Force`, shortened as far as PowerShell allows. */
function isForceOfPowerShell(word: string): boolean {
  return /^-fo(?:r(?:ce?)?)?(?::|$)/.test(word);
}

function hasAddress(word: string): boolean {
  return /https?:\/\/[^\s/]/.test(word);
}
