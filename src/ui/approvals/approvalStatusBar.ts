import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Approvals } from '../../runtime/approvals/approvals.ts';
import { commandIds } from '../commands/commandIds.ts';
import { oneLine } from '../oneLine.ts';
import { escapeMarkdown } from '../tools/escapeMarkdown.ts';
import { countQuestions } from './approvalWords.ts';

/** How many questions wait; a click answers. Hidden while none does. */
export function createApprovalStatusBar(approvals: Approvals): Disposable {
  const store = new DisposableStore();
  const item = store.add(
    vscode.window.createStatusBarItem('approvals', vscode.StatusBarAlignment.Left, priority),
  );
  item.name = 'Cordon Approvals';
  item.command = commandIds.answerApproval;
  item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
  const update = (): void => {
    const waiting = approvals.list();
    if (waiting.length === 0) {
      item.hide();
      return;
    }
    const words = countQuestions(waiting.length);
    item.text = `$(question) ${waiting.length}`;
    item.tooltip = tooltipOf([
      words,
      ...waiting.map(({ commandLine }) => `- ${escapeMarkdown(oneLine(commandLine, maxLength).text)}`),
      'Click to answer.',
    ]);
    item.accessibilityInformation = { label: `Cordon: ${words}` };
    item.show();
  };
  store.add(approvals.onDidChange(update));
  update();
  return store;
}

/** Right of the patches that wait. */
const priority = 48;
const maxLength = 80;

function tooltipOf(paragraphs: readonly string[]): vscode.MarkdownString {
  return new vscode.MarkdownString(paragraphs.join('\n\n'));
}
