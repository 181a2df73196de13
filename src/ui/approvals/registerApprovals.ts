import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Approval } from '../../runtime/approvals/approval.ts';
import type { Approvals } from '../../runtime/approvals/approvals.ts';
import { commandIds } from '../commands/commandIds.ts';
import { oneLine, withoutIcons } from '../oneLine.ts';
import type { TextPages } from '../textPages.ts';
import { notifyOfApprovals } from './approvalNotifications.ts';
import { createApprovalStatusBar } from './approvalStatusBar.ts';
import { ApprovalTree } from './approvalTree.ts';
import { waitingWords } from './approvalWords.ts';
import { chooseAnswer } from './chooseAnswer.ts';
import { giveAnswer } from './giveAnswer.ts';

/** Registers everything that a person sees of the questions that wait, and the commands that answer them. */
export function registerApprovals(approvals: Approvals, pages: TextPages): Disposable {
  const store = new DisposableStore();
  store.add(new ApprovalTree(approvals));
  store.add(createApprovalStatusBar(approvals));
  store.add(notifyOfApprovals(approvals, pages));
  const register = (id: string, action: (approval: Approval) => Promise<void>): void => {
    store.add(
      vscode.commands.registerCommand(id, async (row?: Approval) => {
        const approval = row ?? (await pickApproval(approvals));
        if (approval !== undefined) {
          await action(approval);
        }
      }),
    );
  };
  register(commandIds.answerApproval, (approval) => chooseAnswer(approvals, approval, pages));
  register(commandIds.allowApproval, async (approval) => {
    const narrowest = approval.offers[0];
    if (narrowest !== undefined) {
      await giveAnswer(approvals, approval, narrowest.answer);
    }
  });
  register(commandIds.denyApproval, (approval) =>
    giveAnswer(approvals, approval, { kind: 'deny', by: 'person' }),
  );
  return store;
}

interface Entry extends vscode.QuickPickItem {
  readonly approval: Approval;
}

async function pickApproval(approvals: Approvals): Promise<Approval | undefined> {
  const all = approvals.list();
  if (all.length === 0) {
    await vscode.window.showInformationMessage('No question waits for you.');
    return undefined;
  }
  if (all.length === 1) {
    return all[0];
  }
  const entries = all.map((approval): Entry => {
    return {
      label: withoutIcons(oneLine(approval.commandLine, 80).text),
      description: withoutIcons(
        [waitingWords(approval, Date.now()), approval.root.name, approval.owner].join(' · '),
      ),
      detail: withoutIcons(oneLine(approval.reason, 200).text),
      approval,
    };
  });
  const picked = await vscode.window.showQuickPick(entries, {
    placeHolder: 'Which question do you answer?',
    matchOnDescription: true,
  });
  return picked?.approval;
}
