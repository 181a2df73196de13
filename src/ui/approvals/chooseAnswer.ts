import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Answer, Approval } from '../../runtime/approvals/approval.ts';
import type { Approvals } from '../../runtime/approvals/approvals.ts';
import { oneLine, withoutIcons } from '../oneLine.ts';
import type { TextPages } from '../textPages.ts';
import { approvalPage, waitingWords } from './approvalWords.ts';
import { giveAnswer, tellTooLate } from './giveAnswer.ts';

interface Choice extends vscode.QuickPickItem {
  readonly choose?: () => Promise<void>;
}

/** Shows every answer that a question offers, and carries out the one that is picked. */
export async function chooseAnswer(
  approvals: Approvals,
  approval: Approval,
  pages: TextPages,
): Promise<void> {
  const isWaiting = (): boolean => approvals.list().some(({ id }) => id === approval.id);
  if (!isWaiting()) {
    await tellTooLate();
    return;
  }
  const store = new DisposableStore();
  const picker = store.add(vscode.window.createQuickPick<Choice>());
  const about = [approval.owner, approval.root.name, ...sinceWords(approval)].join(', ');
  picker.title = oneLine(`${approval.title} (${about})`, maxCommandLength).text;
  picker.placeholder = oneLine(approval.commandLine, maxCommandLength).text;
  picker.matchOnDetail = true;
  picker.items = choicesOf(approvals, approval, pages);
  const choice = await new Promise<Choice | 'gone' | undefined>((resolve) => {
    store.add(approvals.onDidChange(() => void (isWaiting() || resolve('gone'))));
    picker.onDidAccept(() => resolve(picker.selectedItems[0]));
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
  store.dispose();
  await (choice === 'gone' ? tellTooLate() : choice?.choose?.());
}

/** Whoever answers now allows no call that waits. */
function sinceWords(approval: Approval): readonly string[] {
  return approval.state === 'interrupted' ? [waitingWords(approval, Date.now())] : [];
}

const maxCommandLength = 200;

function choicesOf(approvals: Approvals, approval: Approval, pages: TextPages): readonly Choice[] {
  const give = (answer: Answer): Promise<void> => giveAnswer(approvals, approval, answer);
  return [
    ...approval.offers.map(({ label, detail, answer }): Choice => ({
      label: withoutIcons(oneLine(label, maxLabelLength).text),
      detail: withoutIcons(oneLine(detail, maxDetailLength).text),
      choose: () => give(answer),
    })),
    {
      label: 'Deny with a Comment…',
      detail: 'The agent is told that you declined, and reads what you write.',
      choose: async () => {
        const comment = await askComment();
        if (comment !== undefined) {
          await give({ kind: 'deny', by: 'person', ...(comment !== '' && { comment }) });
        }
      },
    },
    { label: 'why it is asked', kind: vscode.QuickPickItemKind.Separator },
    {
      label: 'Show the Whole Question',
      detail: withoutIcons(oneLine(approval.reason, maxReasonLength).text),
      choose: () =>
        pages.show(`Question about ${oneLine(approval.commandLine, 40).text}`, () => approvalPage(approval)),
    },
  ];
}

const maxReasonLength = 300;
const maxLabelLength = 400;
const maxDetailLength = 5_000;

async function askComment(): Promise<string | undefined> {
  const comment = await vscode.window.showInputBox({
    title: 'Deny with a Comment',
    prompt: 'What should the agent know?',
    placeHolder: 'Use the staging server instead.',
    ignoreFocusOut: true,
  });
  return comment?.trim();
}
