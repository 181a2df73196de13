import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Approval } from '../../runtime/approvals/approval.ts';
import type { Approvals } from '../../runtime/approvals/approvals.ts';
import { oneLine, withoutLinks } from '../oneLine.ts';
import type { TextPages } from '../textPages.ts';
import { chooseAnswer } from './chooseAnswer.ts';
import { giveAnswer } from './giveAnswer.ts';

/** More questions at a time are in the view and counted in the status bar only. */
const maxAtOnce = 3;

/** Puts each new question into a notification, which takes no focus. */
export function notifyOfApprovals(approvals: Approvals, pages: TextPages): Disposable {
  const shown = new Set<string>();
  return approvals.onDidAsk((approval) => {
    const open = approvals.list().filter(({ id }) => shown.has(id));
    if (open.length < maxAtOnce) {
      shown.add(approval.id);
      void notify(approvals, approval, pages).finally(() => shown.delete(approval.id));
    }
  });
}

const more = 'More…';

async function notify(approvals: Approvals, approval: Approval, pages: TextPages): Promise<void> {
  const { text, isWhole } = notificationText(approval);
  const narrowest = approval.offers[0];
  const no = approval.offers.at(-1);
  // Nobody says yes to what is not shown.
  const offers = [
    ...(isWhole && narrowest !== undefined ? [narrowest] : []),
    ...(no === undefined ? [] : [no]),
  ];
  const picked = await vscode.window.showWarningMessage(
    withoutLinks(text),
    ...offers.map(({ label }) => label),
    more,
  );
  const offer = offers.find(({ label }) => label === picked);
  if (offer !== undefined) {
    await giveAnswer(approvals, approval, offer.answer);
  } else if (picked === more) {
    await chooseAnswer(approvals, approval, pages);
  }
}

/** `isWhole`: all of the command is in it. */
function notificationText({ title, owner, root, commandLine, reason }: Approval): {
  readonly text: string;
  readonly isWhole: boolean;
} {
  const command = oneLine(commandLine, maxCommandLength);
  const why = oneLine(reason, maxReasonLength).text;
  return {
    text: withoutLinks(
      `${title} “${command.text}” (${owner}, in ${oneLine(root.name, maxNameLength).text}). ${why}`,
    ),
    isWhole: command.isWhole,
  };
}

/** The editor shows 1000 characters of a notification. */
const maxCommandLength = 400;
const maxReasonLength = 300;
const maxNameLength = 80;
