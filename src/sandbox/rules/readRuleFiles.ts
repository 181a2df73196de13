import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { readRuleFile } from './file/readRuleFile.ts';
import { noRules } from './rule.ts';
import type { RuleSet } from './rule.ts';
import { problem } from './ruleFiles.ts';
import type { ListedFile } from './ruleFiles.ts';

const maxBytes = 256 * 1024;

/** Every rule of some files; what a later file says about a program replaces what an earlier one does. */
export function readRuleFiles(files: readonly ListedFile[]): RuleSet {
  return files.map(readListed).reduce(
    (rules, more) => ({
      prefixes: [...rules.prefixes, ...more.prefixes],
      networks: [...rules.networks, ...more.networks],
      hostExecutables: new Map([...rules.hostExecutables, ...more.hostExecutables]),
      problems: [...rules.problems, ...more.problems],
    }),
    noRules,
  );
}

/** Another text when a file is another one or says something else, as far as the disk tells without reading. */
export function stateOf(file: ListedFile): string {
  if ('message' in file) {
    return file.message;
  }
  const stats = statSync(file.realPath, { bigint: true, throwIfNoEntry: false });
  return [file.path, file.realPath, stats?.ino, stats?.size, stats?.mtimeNs, stats?.ctimeNs].join(' ');
}

function readListed(file: ListedFile): RuleSet {
  if ('message' in file) {
    return { ...noRules, problems: [file] };
  }
  const { path, source } = file;
  try {
    const read = readRuleFile(readSmallText(file.realPath), { path, source });
    return read.ok ? { ...read.value, problems: [] } : { ...noRules, problems: [read.error] };
  } catch (error) {
    return {
      ...noRules,
      problems: [problem(path, source, `it cannot be read: ${(error as Error).message}`)],
    };
  }
}

/** Of the canonical path, which no link may have replaced; a pipe would never answer. */
function readSmallText(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > maxBytes) {
      throw new Error(`it is not a file of at most ${maxBytes} bytes`);
    }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}
