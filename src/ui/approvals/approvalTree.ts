import * as vscode from 'vscode';
import { DisposableStore, toDisposable } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Approval } from '../../runtime/approvals/approval.ts';
import type { Approvals } from '../../runtime/approvals/approvals.ts';
import { commandIds } from '../commands/commandIds.ts';
import { oneLine } from '../oneLine.ts';
import { rootLabel } from '../rootLabel.ts';
import { escapeMarkdown } from '../tools/escapeMarkdown.ts';
import { approvalFacts, approvalWords, countQuestions, nextChangeMs, waitingWords } from './approvalWords.ts';

const approvalsView = 'cordon.approvals';

/** The view "Approvals": the questions that wait for a person, oldest first, with the time that is left. */
export class ApprovalTree implements vscode.TreeDataProvider<Approval>, Disposable {
  readonly #approvals: Approvals;
  readonly #store = new DisposableStore();
  readonly #didChange = this.#store.add(new vscode.EventEmitter<undefined>());
  readonly #view: vscode.TreeView<Approval>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly onDidChangeTreeData = this.#didChange.event;

  constructor(approvals: Approvals) {
    this.#approvals = approvals;
    this.#view = this.#store.add(vscode.window.createTreeView(approvalsView, { treeDataProvider: this }));
    this.#store.add(approvals.onDidChange(() => this.#refresh()));
    this.#store.add(toDisposable(() => clearTimeout(this.#timer)));
    this.#refresh();
  }

  getChildren(approval?: Approval): Approval[] {
    return approval === undefined ? [...this.#approvals.list()] : [];
  }

  getTreeItem(approval: Approval): vscode.TreeItem {
    return approvalItem(approval, Date.now());
  }

  dispose(): void {
    this.#store.dispose();
  }

  /** Now, and whenever a row would say another time. */
  #refresh(): void {
    clearTimeout(this.#timer);
    const waiting = this.#approvals.list();
    const now = Date.now();
    const changes = waiting
      .filter(({ state }) => state === 'waiting')
      .flatMap(({ expiresAt }) => nextChangeMs(expiresAt, now) ?? []);
    if (changes.length > 0) {
      this.#timer = setTimeout(() => this.#refresh(), Math.min(...changes));
    }
    const { length } = waiting;
    this.#view.badge = length === 0 ? undefined : { value: length, tooltip: countQuestions(length) };
    this.#didChange.fire(undefined);
  }
}

export function approvalItem(approval: Approval, now: number): vscode.TreeItem {
  const { id, state, root } = approval;
  const time = waitingWords(approval, now);
  const words = approvalWords(approval, rootLabel(root.path) === '' ? '' : root.name);
  const item = new vscode.TreeItem(time);
  item.id = id;
  item.description = words;
  item.iconPath = new vscode.ThemeIcon(
    state === 'interrupted' ? 'debug-disconnect' : 'question',
    new vscode.ThemeColor('list.warningForeground'),
  );
  item.contextValue = `approval-${state}`;
  item.tooltip = tooltipOf(approval);
  item.accessibilityInformation = { label: `${words.replaceAll(' · ', ', ')}, ${time}` };
  item.command = { command: commandIds.answerApproval, title: 'Answer', arguments: [approval] };
  return item;
}

function tooltipOf(approval: Approval): vscode.MarkdownString {
  const { title, commandLine } = approval;
  const facts = approvalFacts(approval).map(escapeMarkdown).join('\n\n');
  return new vscode.MarkdownString(`**${escapeMarkdown(title)}**`)
    .appendMarkdown('\n\n')
    .appendCodeblock(oneLine(commandLine, maxTooltipLength).text, 'shellscript')
    .appendMarkdown(facts);
}

/** Enough to recognise it; the page of the question has all of it. */
const maxTooltipLength = 2_000;
