import { readdirSync, realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { errorCode, isInside } from '../paths.ts';
import { whoElseMayWrite } from '../policy/managedPolicy.ts';
import type { RuleProblem, RuleSource } from './rule.ts';

/** A file that is to hold rules, by its canonical path, or why it cannot be used. */
export type ListedFile =
  { readonly path: string; readonly realPath: string; readonly source: RuleSource } | RuleProblem;

/** Folders in a root with rules that narrow; the second is that of Codex. */
const workspaceFolders = [join('.cordon', 'rules'), join('.codex', 'rules')];

/** Nobody writes more, and each is looked at before every command. */
const maxFiles = 50;

/** The files in a root. What leads out of it could be used to read what is not the workspace's. */
export function listWorkspaceFiles(root: string): readonly ListedFile[] {
  return workspaceFolders.flatMap((folder) =>
    listFolder(join(root, folder), 'workspace', (realPath) =>
      isInside(realPath, root) ? undefined : `it leads out of the workspace, to ${realPath}`,
    ),
  );
}

/** Where the machine's administrator keeps rules: beside the policy. */
export function managedRulesFolder(policyPath: string): string {
  return join(policyPath, '..', 'rules');
}

/** The administrator's files. Somebody else's would be a way to allow anything. */
export function listManagedFiles(folder: string, platform: NodeJS.Platform): readonly ListedFile[] {
  return listFolder(folder, 'managed', (realPath) =>
    platform === 'win32' ? undefined : whoElseMayWrite(realPath),
  );
}

/** The files that a person names, absolute or below the home folder. */
export function listUserFiles(
  paths: readonly string[],
  homeDir: string,
  isWritable: (path: string) => boolean,
): readonly ListedFile[] {
  return paths.map((written) => {
    const path = written.replace(/^~(?=\/)/, homeDir);
    return isAbsolute(path)
      ? listFile(path, 'user', (realPath) =>
          isWritable(realPath) ? 'commands may write it, and so could allow themselves anything' : undefined,
        )
      : problem(path, 'user', 'its path is neither absolute nor begins with ~/');
  });
}

/** Why a file cannot be used, in the words for its owner. */
export function problem(path: string, source: RuleSource, why: string): RuleProblem {
  return { source, place: path, message: `${path} does not count: ${why}.` };
}

type Objection = (realPath: string) => string | undefined;

function listFolder(folder: string, source: RuleSource, objection: Objection): readonly ListedFile[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.rules'));
  } catch (error) {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
    return isMissing ? [] : [problem(folder, source, (error as Error).message)];
  }
  if (names.length > maxFiles) {
    return [
      problem(folder, source, `it has ${names.length} files with rules, but at most ${maxFiles} are read`),
    ];
  }
  return [...names].sort().map((name) => listFile(join(folder, name), source, objection));
}

function listFile(path: string, source: RuleSource, objection: Objection): ListedFile {
  try {
    const realPath = realpathSync(path);
    const why = objection(realPath);
    return why === undefined ? { path, realPath, source } : problem(path, source, why);
  } catch (error) {
    return problem(path, source, `it cannot be read: ${(error as Error).message}`);
  }
}
