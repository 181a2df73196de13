import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Environment } from '../../runtime/environments/environment.ts';
import { localName } from '../../runtime/environments/environment.ts';
import { environmentsSetting } from '../../runtime/environments/environments.ts';
import type { Environments } from '../../runtime/environments/environments.ts';
import type { Root } from '../../runtime/roots.ts';
import { commandIds } from '../commands/commandIds.ts';
import { pickRoot } from '../commands/pickRoot.ts';
import type { PolicyStore } from '../policyStore.ts';
import type { EnvironmentChoices } from './environmentChoices.ts';
import { stateOfEnvironment } from './environmentWords.ts';

export interface SelectEnvironmentOptions {
  readonly environments: Environments;
  readonly choices: EnvironmentChoices;
  readonly policies: PolicyStore;
}

/** Registers the command that chooses where the commands of a root run. */
export function registerSelectEnvironment({
  environments,
  choices,
  policies,
}: SelectEnvironmentOptions): Disposable {
  return vscode.commands.registerCommand(
    commandIds.selectEnvironment,
    async (row?: { readonly root?: Root }) => {
      const root =
        row?.root ?? policies.active() ?? (await pickRoot(policies, 'Whose commands do you want to place?'));
      if (root === undefined) {
        return;
      }
      const entries = (): readonly Entry[] => entriesFor(root, environments, choices);
      const chosen = await pick(`Environment of ${root.name}`, entries, environments);
      if (chosen?.kind === 'define') {
        await vscode.commands.executeCommand('workbench.action.openSettings', environmentsSetting);
      } else if (chosen !== undefined) {
        await choices.choose(root.path, chosen.name);
        environments.prewarm(choices.environmentOf(root.path));
      }
    },
  );
}

type Meaning = { readonly kind: 'choose'; readonly name: string | undefined } | { readonly kind: 'define' };

interface Entry extends vscode.QuickPickItem {
  readonly meaning?: Meaning;
  readonly isCurrent?: boolean;
}

function entriesFor(root: Root, environments: Environments, choices: EnvironmentChoices): readonly Entry[] {
  const current = choices.environmentOf(root.path);
  const broken = [...environments.problems].filter(([name]) => name !== '');
  return [
    ...environments.list().map((environment) => entryOf(environment, current)),
    ...broken.map(([name, { message, hint }]) => ({
      label: name,
      description: marked(name === current && name !== localName, 'invalid settings'),
      detail: `${message} ${hint}`,
      meaning: { kind: 'define' } as const,
    })),
    { label: 'More', kind: vscode.QuickPickItemKind.Separator },
    ...(choices.chosenFor(root.path) === undefined
      ? []
      : [
          {
            label: 'Reset to settings',
            detail: 'Forgets what was chosen here: your settings decide.',
            meaning: { kind: 'choose', name: undefined } as const,
          },
        ]),
    {
      label: 'Define Environments…',
      detail: 'Opens the settings in which other machines get their names.',
      meaning: { kind: 'define' },
    },
  ];
}

function entryOf({ name, address, folder, state }: Environment, current: string): Entry {
  return {
    label: name,
    description: marked(name === current, [address, ...(folder === undefined ? [] : [folder])].join(' · ')),
    detail:
      name === localName && state.kind === 'idle'
        ? 'its server starts with the next command'
        : stateOfEnvironment(state),
    meaning: { kind: 'choose', name },
    isCurrent: name === current,
  };
}

function marked(isCurrent: boolean, words: string): string {
  return isCurrent ? `${words} · current` : words;
}

/** Follows what happens to the environments while it is open. */
async function pick(
  title: string,
  entries: () => readonly Entry[],
  environments: Environments,
): Promise<Meaning | undefined> {
  const picker = vscode.window.createQuickPick<Entry>();
  picker.title = title;
  picker.placeholder = 'Where do commands of this folder run?';
  picker.matchOnDescription = true;
  const show = (active: readonly Entry[]): void => {
    picker.items = entries();
    picker.activeItems = picker.items.filter(({ label }) => active.some((entry) => entry.label === label));
  };
  show(entries().filter(({ isCurrent }) => isCurrent === true));
  // Whoever is on the way to an entry by keys stays on it.
  const subscription = environments.onDidChange(() => show(picker.activeItems));
  try {
    return await new Promise((resolve) => {
      picker.onDidAccept(() => resolve(picker.selectedItems[0]?.meaning));
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
  } finally {
    subscription.dispose();
    picker.dispose();
  }
}
