import * as vscode from 'vscode';
import type { Answer, Approval } from '../../runtime/approvals/approval.ts';
import type { Approvals } from '../../runtime/approvals/approvals.ts';
import { withoutLinks } from '../oneLine.ts';

/** Answers a question as the person said, and tells when that could not be. */
export async function giveAnswer(approvals: Approvals, approval: Approval, answer: Answer): Promise<void> {
  try {
    if (!(await approvals.answer(approval.id, answer))) {
      await tellTooLate();
    } else if (approval.state === 'interrupted') {
      await vscode.window.showInformationMessage(
        'The call that asked is gone. Your answer counts for the next one that asks exactly the same.',
      );
    }
  } catch (error) {
    await vscode.window.showErrorMessage(
      withoutLinks(
        `What you granted could not be kept, so the question waits on: ${(error as Error).message}`,
      ),
    );
  }
}

export async function tellTooLate(): Promise<void> {
  await vscode.window.showInformationMessage(
    'That question does not wait any more: it was answered, it expired, or its call was cancelled.',
  );
}
