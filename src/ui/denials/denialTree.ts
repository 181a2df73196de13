import * as vscode from 'vscode';
import { DisposableStore, toDisposable } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import { describeWidening } from '../../runtime/approvals/wideningWords.ts';
import type { DenialLog, DenialRecord } from '../../runtime/denials/denialLog.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { commandIds } from '../commands/commandIds.ts';
import { oneLine } from '../oneLine.ts';
import type { PolicyStore } from '../policyStore.ts';
import { rootLabel } from '../rootLabel.ts';
import { escapeMarkdown } from '../tools/escapeMarkdown.ts';
import { cureOf } from './cureOf.ts';
import { denialLabel, denialWords } from './denialWords.ts';

const denialsView = 'cordon.denials';

/** A row: a denial, or what can be done about it. */
export type DenialNode =
  | { readonly kind: 'denial'; readonly record: DenialRecord }
  | { readonly kind: 'fix'; readonly record: DenialRecord; readonly fix: Widening }
  | { readonly kind: 'allowed'; readonly record: DenialRecord }
  | { readonly kind: 'advice'; readonly record: DenialRecord; readonly text: string };

/** A program can be stopped many times a second. */
const refreshDelayMs = 100;

/** The view "Denials": what the sandbox stopped, newest first, with what helps below each. */
export class DenialTree implements vscode.TreeDataProvider<DenialNode>, Disposable {
  readonly #denials: DenialLog;
  readonly #policies: Pick<PolicyStore, 'policyFor' | 'onDidChange'>;
  readonly #store = new DisposableStore();
  readonly #didChange = this.#store.add(new vscode.EventEmitter<undefined>());
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly onDidChangeTreeData = this.#didChange.event;

  constructor(denials: DenialLog, policies: Pick<PolicyStore, 'policyFor' | 'onDidChange'>) {
    this.#denials = denials;
    this.#policies = policies;
    this.#store.add(
      vscode.window.createTreeView(denialsView, { treeDataProvider: this, showCollapseAll: true }),
    );
    this.#store.add(denials.onDidChange(() => this.#refreshSoon()));
    this.#store.add(policies.onDidChange(() => this.#refreshSoon()));
    this.#store.add(toDisposable(() => clearTimeout(this.#timer)));
  }

  getChildren(node?: DenialNode): DenialNode[] {
    if (node === undefined) {
      return this.#denials.list().map((record) => ({ kind: 'denial', record }));
    }
    return node.kind === 'denial' ? this.#cureNodes(node.record) : [];
  }

  getParent({ kind, record }: DenialNode): DenialNode | undefined {
    return kind === 'denial' ? undefined : { kind: 'denial', record };
  }

  getTreeItem(node: DenialNode): vscode.TreeItem {
    return itemOf(node, new Date());
  }

  dispose(): void {
    this.#store.dispose();
  }

  #cureNodes(record: DenialRecord): DenialNode[] {
    const cure = cureOf(record, this.#policies);
    switch (cure.kind) {
      case 'grant':
        return cure.fixes.map((fix) => ({ kind: 'fix', record, fix }));
      case 'allowed':
        return [{ kind: 'allowed', record }];
      case 'advice':
        return [{ kind: 'advice', record, text: cure.text }];
    }
  }

  #refreshSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#didChange.fire(undefined);
    }, refreshDelayMs);
  }
}

function itemOf(node: DenialNode, now: Date): vscode.TreeItem {
  switch (node.kind) {
    case 'denial':
      return denialItem(node.record, now);
    case 'fix': {
      const label = `Allow ${oneLine(describeWidening(node.fix), maxLength).text}…`;
      return cureItem(label, 'unlock', {
        command: commandIds.allowDenied,
        title: 'Allow',
        arguments: [node],
      });
    }
    case 'allowed':
      return cureItem('Allowed now: run it again', 'check', {
        command: commandIds.runDeniedAgain,
        title: 'Run Again',
        arguments: [node],
      });
    case 'advice':
      return cureItem(oneLine(node.text, maxLength).text, 'info');
  }
}

const maxLength = 200;

function denialItem(record: DenialRecord, now: Date): vscode.TreeItem {
  const label = denialLabel(record);
  const words = denialWords(record, rootLabel(record.root.path) === '' ? '' : record.root.name, now);
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  item.id = record.id;
  item.description = words;
  item.iconPath = new vscode.ThemeIcon('circle-slash', new vscode.ThemeColor('list.errorForeground'));
  item.contextValue = record.fixes.length > 0 ? 'denial-fixable' : 'denial';
  item.tooltip = new vscode.MarkdownString(escapeMarkdown(record.denial.message))
    .appendMarkdown('\n\n')
    .appendCodeblock(oneLine(record.commandLine, maxTooltipLength).text, 'shellscript')
    .appendMarkdown(escapeMarkdown(`in ${record.cwd}`));
  item.accessibilityInformation = {
    label: `Denied: ${label}, ${words.replaceAll(' · ', ', ')}`,
  };
  return item;
}

const maxTooltipLength = 2_000;

function cureItem(label: string, icon: string, command?: vscode.Command): vscode.TreeItem {
  const item = new vscode.TreeItem(label);
  item.iconPath = new vscode.ThemeIcon(icon);
  item.tooltip = label;
  if (command !== undefined) {
    item.command = command;
  }
  return item;
}
