import * as vscode from 'vscode';
import { DisposableStore, toDisposable } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Session } from '../../runtime/sessions/session.ts';
import type { SessionManager } from '../../runtime/sessions/sessionManager.ts';
import { commandIds } from '../commands/commandIds.ts';
import { oneLine } from '../oneLine.ts';
import { rootLabel } from '../rootLabel.ts';
import { escapeMarkdown } from '../tools/escapeMarkdown.ts';
import { newestFirst, sessionFacts, sessionWords, stepMs } from './sessionRows.ts';

const sessionsView = 'cordon.sessions';

/** The view "Sessions": what runs, then what has ended and can still be looked at. */
export class SessionTree implements vscode.TreeDataProvider<Session>, Disposable {
  readonly #sessions: SessionManager;
  readonly #store = new DisposableStore();
  readonly #didChange = this.#store.add(new vscode.EventEmitter<Session[] | undefined>());
  readonly #view: vscode.TreeView<Session>;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly onDidChangeTreeData = this.#didChange.event;

  constructor(sessions: SessionManager) {
    this.#sessions = sessions;
    this.#view = this.#store.add(vscode.window.createTreeView(sessionsView, { treeDataProvider: this }));
    this.#store.add(sessions.onDidChange(() => this.#refresh()));
    this.#store.add(this.#view.onDidChangeVisibility(() => this.#refresh()));
    this.#store.add(toDisposable(() => clearInterval(this.#timer)));
  }

  getChildren(session?: Session): Session[] {
    return session === undefined ? [...this.#sessions.list()].sort(newestFirst) : [];
  }

  getParent(): undefined {
    return undefined;
  }

  getTreeItem(session: Session): vscode.TreeItem {
    return sessionItem(session, new Date());
  }

  dispose(): void {
    this.#store.dispose();
  }

  /** Now; and, while somebody looks, the rows of what runs whenever they would say another time. */
  #refresh(): void {
    clearInterval(this.#timer);
    if (this.#view.visible && this.#running().length > 0) {
      this.#timer = setInterval(() => this.#didChange.fire(this.#running()), stepMs);
    }
    this.#didChange.fire(undefined);
  }

  #running(): Session[] {
    return this.#sessions.list().filter(({ state }) => state.kind === 'running');
  }
}

const maxLength = 200;
const maxTooltipLength = 2_000;

export function sessionItem(session: Session, now: Date): vscode.TreeItem {
  const command = oneLine(session.commandLine, maxLength).text;
  const words = sessionWords(session, rootLabel(session.root.path) === '' ? '' : session.root.name, now);
  const item = new vscode.TreeItem(command);
  item.id = String(session.id);
  item.description = words;
  item.iconPath = iconOf(session);
  item.contextValue = contextOf(session);
  item.tooltip = new vscode.MarkdownString()
    .appendCodeblock(oneLine(session.commandLine, maxTooltipLength).text, 'shellscript')
    .appendMarkdown(
      sessionFacts(session, now)
        .map((text) => escapeMarkdown(oneLine(text, maxTooltipLength).text))
        .join('\n\n'),
    );
  item.accessibilityInformation = { label: `${command}, ${words.replaceAll(' · ', ', ')}` };
  item.command = { command: commandIds.showSession, title: 'Show Session', arguments: [session] };
  return item;
}

function contextOf(session: Session): string {
  const state = session.state.kind === 'running' ? 'running' : 'ended';
  return `session-${state}${session.denials().length > 0 ? '-denied' : ''}`;
}

function iconOf(session: Session): vscode.ThemeIcon {
  const { state, isUnsandboxed } = session;
  const icon = (name: string, colour: string): vscode.ThemeIcon =>
    new vscode.ThemeIcon(name, new vscode.ThemeColor(colour));
  if (isUnsandboxed) {
    return icon('warning', 'list.warningForeground');
  }
  if (state.kind === 'running') {
    return icon('play-circle', 'charts.blue');
  }
  if (session.denials().length > 0) {
    return icon('circle-slash', 'list.errorForeground');
  }
  return state.signal !== undefined
    ? icon('debug-stop', 'list.warningForeground')
    : state.exitCode === 0
      ? icon('pass', 'testing.iconPassed')
      : icon('error', 'list.errorForeground');
}
