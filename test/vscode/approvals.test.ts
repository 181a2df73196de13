import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Answer, ApprovalRequest } from '../../src/runtime/approvals/approval.ts';
import { Approvals } from '../../src/runtime/approvals/approvals.ts';
import { GrantStore } from '../../src/runtime/approvals/grantStore.ts';
import { offersBefore } from '../../src/runtime/approvals/offers.ts';
import { notifyOfApprovals } from '../../src/ui/approvals/approvalNotifications.ts';
import { approvalItem } from '../../src/ui/approvals/approvalTree.ts';
import { chooseAnswer } from '../../src/ui/approvals/chooseAnswer.ts';
import type { TextPages } from '../../src/ui/textPages.ts';

const root = { name: 'app', path: '/w/app' };
const hostile = '[ok](command:workbench.action.quit) **x** $(trash) `y`\nrm -rf ~ \u202e#';

function request(commandLine: string): ApprovalRequest {
  return {
    owner: 'Chat',
    root,
    commandLine,
    cwd: root.path,
    title: 'Run this command?',
    reason: 'No rule allows it.',
    offers: offersBefore({ widenings: [], prefix: undefined, root }),
    scope: commandLine,
  };
}

describe('questions that wait', () => {
  let grants: GrantStore;
  let approvals: Approvals;
  const pages = { show: async () => {} } as unknown as TextPages;
  const ask = (commandLine: string): Promise<Answer> =>
    approvals.ask(request(commandLine), new AbortController().signal);

  beforeEach(() => {
    grants = new GrantStore();
    approvals = new Approvals({ grants, expiresAfterMs: () => 600_000 });
  });
  afterEach(() => {
    approvals.dispose();
    grants.dispose();
  });

  describe('in the view', () => {
    beforeEach(() => void approvals.onDidAsk(() => {}));

    it('are rows in which nothing of the command formats, links or hides', () => {
      void ask(hostile);
      const [approval] = approvals.list();
      assert.ok(approval !== undefined);
      const item = approvalItem(approval, approval.askedAt);
      assert.equal(item.label, '10 min left');
      assert.match(
        String(item.description),
        /^\[ok\]\(command:workbench\.action\.quit\) \*\*x\*\* \$\(trash\) `y` ↵ rm -rf ~ \\u\{202e\}# · Run this command\?.* · Chat$/,
      );
      assert.match(
        item.accessibilityInformation?.label ?? '',
        /rm -rf.*, Run this command\?.*, 10 min left$/,
      );
      const tooltip = item.tooltip as vscode.MarkdownString;
      assert.match(tooltip.value, /^\*\*Run this command\\?\?\*\*\n+```shellscript\n\[ok\].*\n```/);
      assert.ok(tooltip.isTrusted !== true);
    });

    it('offer every answer, the narrowest first', async () => {
      const answer = ask('make');
      const choosing = choose('make');
      await acceptItem(0);
      assert.deepEqual(await answer, { kind: 'allow', widenings: [], lasts: 'once' });
      await choosing;
    });

    it('take a no with a comment for the agent', async () => {
      const answer = ask('make');
      const choosing = choose('make');
      const original = vscode.window.showInputBox;
      Object.assign(vscode.window, { showInputBox: async () => ' Use ninja. ' });
      await acceptItem(3);
      assert.deepEqual(await answer, { kind: 'deny', by: 'person', comment: 'Use ninja.' });
      Object.assign(vscode.window, { showInputBox: original });
      await choosing;
    });

    it('close their list when somebody else answers', async () => {
      const answer = ask('make');
      const shown = recordMessages('showInformationMessage');
      const choosing = choose('make');
      await approvals.answer(approvals.list()[0]?.id ?? '', { kind: 'deny', by: 'person' });
      await choosing;
      assert.deepEqual(await answer, { kind: 'deny', by: 'person' });
      assert.match(shown.messages.join('\n'), /does not wait any more/);
      shown.dispose();
    });
  });

  describe('in notifications', () => {
    it('are put into three at a time, and the next when one is answered', async () => {
      const shown = recordMessages('showWarningMessage');
      const notifying = notifyOfApprovals(approvals, pages);
      const answers = ['one', 'two', 'three', 'four'].map(ask);
      assert.equal(shown.messages.length, 3);
      await approvals.answer(approvals.list()[0]?.id ?? '', { kind: 'deny', by: 'person' });
      answers.push(ask('five'));
      assert.equal(shown.messages.length, 4);
      assert.match(shown.messages[3] ?? '', /“five” \(Chat, in app\)\. No rule allows it\.$/);
      notifying.dispose();
      shown.dispose();
    });

    it('are answered by their buttons', async () => {
      const shown = recordMessages('showWarningMessage', 'Run Once');
      const notifying = notifyOfApprovals(approvals, pages);
      assert.deepEqual(await ask('make'), { kind: 'allow', widenings: [], lasts: 'once' });
      assert.deepEqual(shown.buttons[0], ['Run Once', "Don't Run", 'More…']);
      notifying.dispose();
      shown.dispose();
    });

    it('have no yes for a command that is not shown whole, and make no links', async () => {
      const shown = recordMessages('showWarningMessage', "Don't Run");
      const notifying = notifyOfApprovals(approvals, pages);
      assert.deepEqual(await ask(`echo ${'x'.repeat(500)}; rm -rf ~`), { kind: 'deny', by: 'person' });
      assert.deepEqual(shown.buttons[0], ["Don't Run", 'More…']);
      await ask(hostile);
      assert.doesNotMatch(shown.messages[1] ?? '', /\]\(/);
      notifying.dispose();
      shown.dispose();
    });
  });

  async function choose(commandLine: string): Promise<void> {
    const approval = approvals.list().find((candidate) => candidate.commandLine === commandLine);
    assert.ok(approval !== undefined);
    await chooseAnswer(approvals, approval, pages);
  }
});

/** Picks the item with that number in the list that is open. */
async function acceptItem(index: number): Promise<void> {
  // The list opens a moment after it was asked for, and nothing tells when.
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (let step = 0; step < index; step += 1) {
    await vscode.commands.executeCommand('workbench.action.quickOpenSelectNext');
  }
  await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
}

/** Answers notifications instead of a person. */
function recordMessages(kind: 'showInformationMessage' | 'showWarningMessage', pick?: string) {
  const messages: string[] = [];
  const buttons: (readonly string[])[] = [];
  const original = vscode.window[kind];
  const replacement = async (message: string, ...items: readonly string[]): Promise<string | undefined> => {
    messages.push(message);
    buttons.push(items);
    return pick;
  };
  Object.assign(vscode.window, { [kind]: replacement });
  return { messages, buttons, dispose: () => void Object.assign(vscode.window, { [kind]: original }) };
}
