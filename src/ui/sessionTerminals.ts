import * as vscode from 'vscode';
import { DisposableStore, toDisposable } from '../base/disposable.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../runtime/sessions/session.ts';
import { findingLines } from '../sandbox/aftermath/findingLines.ts';
import { createSessionTerminal } from '../terminal/sessionTerminal.vscode.ts';
import { runningName } from '../terminal/sessionWords.ts';
import { tellNoTerminals } from './tellNoTerminals.ts';

/** Of what the sandbox stopped, at the end of a terminal. */
const mostSentences = 3;

/** How long after the start of a window the editor may still open terminals by itself. */
const startupMs = 10_000;

/** The terminals that look at sessions: any number per session, made when somebody asks to see it. */
export class SessionTerminals implements Disposable {
  readonly #store = new DisposableStore();
  /** Oldest first. */
  readonly #terminals = new Map<Session, vscode.Terminal[]>();

  constructor() {
    this.#store.add(vscode.window.onDidCloseTerminal((terminal) => this.#forget(terminal)));
  }

  /** Brings a terminal of the session to the front, with the focus: only ever because a person asked. */
  show(session: Session): void {
    if (vscode.workspace.isTrusted) {
      (this.#newest(session) ?? this.#create(session)).show();
    } else {
      void tellNoTerminals();
    }
  }

  /** Shows the session in one more terminal. */
  showAnother(session: Session): void {
    if (vscode.workspace.isTrusted) {
      this.#create(session).show();
    } else {
      void tellNoTerminals();
    }
  }

  /**
   * Opens the terminals again that looked at sessions before the window was loaded, without taking the focus; in a
   * workspace that is not trusted as soon as it is.
   */
  reopen(sessions: readonly Session[]): void {
    const shown = sessions.filter(({ record }) => record.isShown);
    closeDead(shown);
    if (vscode.workspace.isTrusted) {
      this.#reopen(shown);
    } else {
      this.#store.add(vscode.workspace.onDidGrantWorkspaceTrust(() => this.#reopen(shown)));
    }
  }

  #reopen(shown: readonly Session[]): void {
    const last = shown.map((session) => this.#create(session)).at(-1);
    if (last !== undefined) {
      last.show(true);
      this.#keepInFront(last);
    }
  }

  /** The editor may open a shell of its own a moment later, because the panel was open: that one stays behind. */
  #keepInFront(terminal: vscode.Terminal): void {
    const before = vscode.window.terminals;
    const subscription = vscode.window.onDidChangeActiveTerminal((active) => {
      if (active !== undefined && !before.includes(active) && !this.#isOwn(active)) {
        subscription.dispose();
        terminal.show(true);
      }
    });
    const timer = setTimeout(() => void subscription.dispose(), startupMs);
    this.#store.add(subscription);
    this.#store.add(toDisposable(() => clearTimeout(timer)));
  }

  #isOwn(terminal: vscode.Terminal): boolean {
    return [...this.#terminals.values()].some((terminals) => terminals.includes(terminal));
  }

  /** Closes every terminal: without the extension behind them they would be dead tabs. */
  dispose(): void {
    // First, because these terminals are not closed by a person: the next window opens them again.
    this.#store.dispose();
    for (const terminal of [...this.#terminals.values()].flat()) {
      terminal.dispose();
    }
    this.#terminals.clear();
  }

  #newest(session: Session): vscode.Terminal | undefined {
    return this.#terminals.get(session)?.at(-1);
  }

  #create(session: Session): vscode.Terminal {
    const terminal = createSessionTerminal(session, {
      answersQueries: () => this.#newest(session) === terminal,
      sandboxSentences: () => [
        ...session
          .denials()
          .slice(0, mostSentences)
          .map(({ message }) => message),
        ...findingLines(session.findings),
      ],
    });
    this.#terminals.set(session, [...(this.#terminals.get(session) ?? []), terminal]);
    session.note({ isShown: true });
    return terminal;
  }

  #forget(closed: vscode.Terminal): void {
    if (closed.exitStatus?.reason === vscode.TerminalExitReason.Shutdown) {
      // The window goes, and nobody has closed anything.
      return;
    }
    for (const [session, terminals] of this.#terminals) {
      const open = terminals.filter((terminal) => terminal !== closed);
      if (open.length === terminals.length) {
        continue;
      }
      if (session.state.kind === 'running' && endsOnClose(session)) {
        void session.terminate();
      }
      if (open.length === 0) {
        this.#terminals.delete(session);
        session.note({ isShown: false });
      } else {
        this.#terminals.set(session, open);
      }
    }
  }
}

/** The terminals of an extension host that crashed stay open, and nothing is behind them any more. */
function closeDead(sessions: readonly Session[]): void {
  const names = new Set(sessions.map(runningName));
  for (const terminal of vscode.window.terminals) {
    const { name, ...options } = terminal.creationOptions;
    const isProgram = 'shellPath' in options && options.shellPath !== undefined;
    if (!isProgram && name !== undefined && names.has(name)) {
      terminal.dispose();
    }
  }
}

function endsOnClose(session: Session): boolean {
  const setting = vscode.workspace.getConfiguration('cordon.terminal').get<string>('closeEndsSession');
  return setting === 'always' || (setting !== 'never' && session.owner === 'person');
}
