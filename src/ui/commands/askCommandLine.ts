import * as vscode from 'vscode';
import type { CommandHistory } from './commandHistory.ts';

/** Asks for a command line: typed freely or taken from the history, newest first. */
export async function askCommandLine(title: string, history: CommandHistory): Promise<string | undefined> {
  const picker = vscode.window.createQuickPick<Entry>();
  picker.title = title;
  picker.placeholder = 'Command to run in the sandbox';
  picker.matchOnDescription = false;
  let typedEntrySeen: string | undefined;
  const refresh = (): void => {
    const typed = picker.value.trim();
    const remembered = history.list().filter((commandLine) => commandLine !== typed);
    picker.items = [
      ...(typed === '' ? [] : [{ label: typed, description: 'run this', alwaysShow: true, isTyped: true }]),
      ...remembered.map((commandLine) => ({
        label: commandLine,
        isTyped: false,
        buttons: [{ iconPath: new vscode.ThemeIcon('close'), tooltip: 'Forget this command' }],
      })),
    ];
  };
  refresh();
  try {
    return await new Promise<string | undefined>((resolve) => {
      picker.onDidChangeValue(refresh);
      picker.onDidChangeActive(([active]) => {
        typedEntrySeen = active?.isTyped === true ? active.label : typedEntrySeen;
      });
      picker.onDidTriggerItemButton(async ({ item }) => {
        await history.forget(item.label);
        refresh();
      });
      picker.onDidAccept(() => {
        const typed = picker.value.trim();
        const [selected] = picker.selectedItems;
        // Enter can be faster than the entry for what was typed: then the list's first match was never meant.
        const isChosen = selected !== undefined && (typed === '' || typedEntrySeen === typed);
        const commandLine = isChosen ? selected.label : typed;
        if (commandLine !== '') {
          resolve(commandLine);
        }
      });
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}

interface Entry extends vscode.QuickPickItem {
  readonly isTyped: boolean;
}
