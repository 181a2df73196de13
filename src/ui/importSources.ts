import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import { importClaude } from '../sandbox/importers/claude.ts';
import { importCodex } from '../sandbox/importers/codex.ts';
import type { ImportedPolicy, ImportProblem } from '../sandbox/importers/importedPolicy.ts';
import { importVscode, vscodeSettingNames } from '../sandbox/importers/vscode.ts';
import { isInside } from '../sandbox/paths.ts';

/** Settings of another program that were found, and the policies in them. */
export interface ImportSource {
  readonly program: string;
  /** Where they are, as a person knows it. */
  readonly place: string;
  /** How a profile that is made of them is called by default. */
  readonly profileName: string;
  readonly policies: Result<readonly ImportedPolicy[], ImportProblem>;
}

/**
 * Looks for the person's own settings of other programs. Never in the opened folders, nor behind links that lead
 * there: what commands may write must not choose what commands may do.
 */
export async function findImportSources(roots: readonly string[]): Promise<readonly ImportSource[]> {
  const homeDir = homedir();
  const files = [
    {
      program: 'Codex',
      place: '~/.codex/config.toml',
      profileName: 'codex',
      path: join(homeDir, '.codex', 'config.toml'),
      translate: importCodex,
    },
    {
      program: 'Claude Code',
      place: '~/.claude/settings.json',
      profileName: 'claude-code',
      path: join(homeDir, '.claude', 'settings.json'),
      translate: (text: string) => importClaude(text, { homeDir }),
    },
  ];
  const found = await Promise.all(
    files.map(async ({ path, translate, ...source }) => {
      const text = await readOwnFile(path, roots);
      return text && { ...source, policies: text.ok ? translate(text.value) : text };
    }),
  );
  const editor = {
    program: 'Visual Studio Code',
    place: 'chat.agent.sandbox and others, in your settings',
    profileName: 'vscode',
    policies: importVscode(editorSettings(), { homeDir, platform: process.platform }),
  };
  return [...found.filter((source) => source !== undefined), editor].filter(
    ({ policies }) => !policies.ok || policies.value.length > 0,
  );
}

const maxBytes = 1024 * 1024;

/** Undefined when there is no such file. */
async function readOwnFile(
  path: string,
  roots: readonly string[],
): Promise<Result<string, ImportProblem> | undefined> {
  try {
    const real = await realpath(path);
    const root = roots.find((candidate) => isInside(real, candidate));
    if (root !== undefined) {
      return fail({ message: `It lies in ${root}, which is open here, so a command may have written it.` });
    }
    const { size } = await stat(real);
    return size > maxBytes ? fail({ message: 'It is larger than 1 MiB.' }) : ok(await readFile(real, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? undefined
      : fail({ message: `It cannot be read (${code ?? String(error)}).` });
  }
}

/** What the person set; what a workspace sets is not looked at. */
function editorSettings(): Readonly<Record<string, unknown>> {
  const configuration = vscode.workspace.getConfiguration();
  return Object.fromEntries(
    vscodeSettingNames.map((name) => [name, configuration.inspect(name)?.globalValue]),
  );
}
