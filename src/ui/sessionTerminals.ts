import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../runtime/sessions/session.ts';
import { findingLines } from '../sandbox/aftermath/findingLines.ts';
import { createSessionTerminal } from '../terminal/sessionTerminal.vscode.ts';

/** Of what the sandbox stopped, at the end of a terminal. */
const mostSentences = 3;

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
    (this.#newest(session) ?? this.#create(session)).show();
  }

  /** Shows the session in one more terminal. */
  showAnother(session: Session): void {
    this.#create(session).show();
  }

  /** Closes every terminal: without the extension behind them they would be dead tabs. */
  dispose(): void {
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
      endsSessionOnClose: () => endsOnClose(session),
      sandboxSentences: () => [
        ...session
          .denials()
          .slice(0, mostSentences)
          .map(({ message }) => message),
        ...findingLines(session.findings),
      ],
    });
    this.#terminals.set(session, [...(this.#terminals.get(session) ?? []), terminal]);
    return terminal;
  }

  #forget(closed: vscode.Terminal): void {
    for (const [session, terminals] of this.#terminals) {
      const open = terminals.filter((terminal) => terminal !== closed);
      if (open.length === 0) {
        this.#terminals.delete(session);
      } else {
        this.#terminals.set(session, open);
      }
    }
  }
}

function endsOnClose(session: Session): boolean {
  const setting = vscode.workspace.getConfiguration('cordon.terminal').get<string>('closeEndsSession');
  return setting === 'always' || (setting !== 'never' && session.owner === 'person');
}
