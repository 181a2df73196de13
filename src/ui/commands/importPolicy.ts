import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Result } from '../../base/result.ts';
import type { PolicyError, Root } from '../../runtime/roots.ts';
import { wideningsOf } from '../../sandbox/importers/widening.ts';
import type { Widening } from '../../sandbox/importers/widening.ts';
import type { ImportedPolicy } from '../../sandbox/importers/importedPolicy.ts';
import type { RootChoices } from '../rootChoices.ts';
import { importPreviewPage } from '../importPreview.ts';
import { findImportSources } from '../importSources.ts';
import type { ImportSource } from '../importSources.ts';
import { sandboxSection } from '../policySettings.ts';
import type { PolicyStore } from '../policyStore.ts';
import { modeWords } from '../policyWords.ts';
import type { TextPages } from '../textPages.ts';
import { commandIds } from './commandIds.ts';
import { pickRoot } from './pickRoot.ts';
import { withoutLinks } from '../oneLine.ts';

/** Registers the command that offers the sandbox settings of other programs as a profile. */
export function registerImportPolicy(
  policies: PolicyStore,
  choices: RootChoices,
  pages: TextPages,
): Disposable {
  return vscode.commands.registerCommand(commandIds.importPolicy, async () => {
    const root = policies.active() ?? (await pickRoot(policies, 'With whose policy should it be compared?'));
    if (root === undefined) {
      return;
    }
    const sources = await findImportSources(policies.list().map(({ path }) => path));
    const choice = await pickPolicy(sources);
    if (choice !== undefined) {
      await preview(choice, { root, policies, choices, pages });
    }
  });
}

interface Choice extends vscode.QuickPickItem {
  readonly source: ImportSource;
  /** Absent for a file that cannot be imported. */
  readonly policy?: ImportedPolicy;
}

async function pickPolicy(sources: readonly ImportSource[]): Promise<Required<Choice> | undefined> {
  if (sources.length === 0) {
    await vscode.window.showInformationMessage(
      'No sandbox settings of Codex, Claude Code or the editor’s own agent were found. Files in opened folders are never imported.',
    );
    return undefined;
  }
  const choice = await vscode.window.showQuickPick(sources.flatMap(choicesOf), {
    title: 'Import sandbox settings as a profile',
    placeHolder: 'Whose settings? Files in opened folders are never imported.',
    matchOnDetail: true,
  });
  if (choice !== undefined && choice.policy === undefined) {
    await vscode.window.showErrorMessage(
      withoutLinks(`${choice.source.place} cannot be imported. ${choice.detail ?? ''}`),
    );
  }
  return choice?.policy && (choice as Required<Choice>);
}

function choicesOf(source: ImportSource): readonly Choice[] {
  const { program, place, policies } = source;
  if (!policies.ok) {
    return [{ label: program, description: place, detail: `$(error) ${policies.error.message}`, source }];
  }
  return policies.value.map((policy) => ({
    label: `${program}: ${policy.name}`,
    description: `${place}${policy.isInUse ? ' · in use there' : ''}`,
    detail: summaryOf(policy),
    source,
    policy,
  }));
}

function summaryOf({ settings: { mode, network }, notes }: ImportedPolicy): string {
  return [
    ...(mode === undefined ? [] : [modeWords[mode].label]),
    ...(network === undefined ? [] : [`network ${network}`]),
    notes.length === 0 ? 'everything carries over' : `${notes.length} remarks`,
  ].join(' · ');
}

interface Surroundings {
  readonly root: Root;
  readonly policies: PolicyStore;
  readonly choices: RootChoices;
  readonly pages: TextPages;
}

async function preview(
  { source, policy }: Required<Choice>,
  { root, policies, choices, pages }: Surroundings,
): Promise<void> {
  const taken = new Set(policies.profileNames(root));
  const profileName = freeName(source.profileName, taken);
  const widenings = compare(root, policies, { name: profileName, settings: policy.settings });
  const previous = settings().inspect<string>('profile')?.globalValue ?? '';
  await pages.show(`Import from ${source.program}`, () =>
    importPreviewPage({ ...source, policy, profileName, previous, widenings }),
  );
  if (!widenings.ok) {
    await vscode.window.showErrorMessage(withoutLinks(`This cannot be imported. ${widenings.error.message}`));
    return;
  }
  const apply = 'Apply to User Settings';
  const wider = widenings.value.length;
  const text =
    wider === 0
      ? `Add the profile “${profileName}” and use it? It is nowhere wider than your settings now.`
      : `Add the profile “${profileName}” and use it? It is wider than your settings now: see the preview.`;
  const answer =
    wider === 0
      ? await vscode.window.showInformationMessage(withoutLinks(text), apply)
      : await vscode.window.showWarningMessage(withoutLinks(text), apply);
  if (answer === apply) {
    await applyProfile(profileName, policy, previous, choices.get(root.path) !== undefined);
  }
}

function compare(
  root: Root,
  policies: PolicyStore,
  profile: { readonly name: string; readonly settings: unknown },
): Result<readonly Widening[], PolicyError> {
  const before = policies.policyBySettings(root);
  const after = policies.policyBySettings(root, profile);
  if (!before.ok || !after.ok) {
    return before.ok ? (after as Exclude<typeof after, { readonly ok: true }>) : before;
  }
  return { ok: true, value: wideningsOf(before.value, after.value) };
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  const names = [name, ...Array.from({ length: taken.size }, (_, index) => `${name}-${index + 2}`)];
  return names.find((candidate) => !taken.has(candidate)) ?? name;
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(sandboxSection);
}

async function applyProfile(
  name: string,
  policy: ImportedPolicy,
  previous: string,
  isChosenHere: boolean,
): Promise<void> {
  await write('profiles', { ...ownProfiles(), [name]: policy.settings });
  await write('profile', name);
  const undo = 'Undo';
  const note = isChosenHere ? ' What was chosen for this folder in the status bar still comes first.' : '';
  const answer = await vscode.window.showInformationMessage(
    withoutLinks(`The profile “${name}” is in use.${note}`),
    undo,
  );
  if (answer === undo) {
    const others = Object.fromEntries(
      Object.entries(ownProfiles()).filter(([candidate]) => candidate !== name),
    );
    await write('profile', previous === '' ? undefined : previous);
    await write('profiles', Object.keys(others).length === 0 ? undefined : others);
  }
}

function ownProfiles(): Readonly<Record<string, unknown>> {
  return settings().inspect<Readonly<Record<string, unknown>>>('profiles')?.globalValue ?? {};
}

function write(name: string, value: unknown): Thenable<void> {
  return settings().update(name, value, vscode.ConfigurationTarget.Global);
}
