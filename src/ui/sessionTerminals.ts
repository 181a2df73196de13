import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../runtime/sessions/session.ts';
import { createSessionTerminal } from '../terminal/sessionTerminal.vscode.ts';

/** The terminals that look at sessions: any number per session, made when somebody asks to see it. */
export class SessionTerminals implements Disposable {
  readonly #store = new DisposableStore();
  readonly #open = new Set<vscode.Terminal>();
  readonly #newest = new Map<Session, vscode.Terminal>();

  constructor() {
    this.#store.add(vscode.window.onDidCloseTerminal((terminal) => this.#forget(terminal)));
  }

  /** Brings a terminal of the session to the front, with the focus: only ever because a person asked. */
  show(session: Session): void {
    (this.#newest.get(session) ?? this.#create(session)).show();
  }

  /** Shows the session in one more terminal. */
  showAnother(session: Session): void {
    this.#create(session).show();
  }

  /** Closes every terminal: without the extension behind them they would be dead tabs. */
  dispose(): void {
    this.#store.dispose();
    for (const terminal of this.#open) {
      terminal.dispose();
    }
    this.#open.clear();
    this.#newest.clear();
  }

  #create(session: Session): vscode.Terminal {
    const terminal = createSessionTerminal(session, {
      endsSessionOnClose: () => endsOnClose(session),
      denialSentence: () => session.denial()?.message,
    });
    this.#open.add(terminal);
    this.#newest.set(session, terminal);
    return terminal;
  }

  #forget(terminal: vscode.Terminal): void {
    this.#open.delete(terminal);
    for (const [session, newest] of this.#newest) {
      if (newest === terminal) {
        this.#newest.delete(session);
      }
    }
  }
}

function endsOnClose(session: Session): boolean {
  const setting = vscode.workspace.getConfiguration('cordon.terminal').get<string>('closeEndsSession');
  return setting === 'always' || (setting !== 'never' && session.owner === 'person');
}
