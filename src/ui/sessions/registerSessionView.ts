import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Session } from '../../runtime/sessions/session.ts';
import type { SessionManager } from '../../runtime/sessions/sessionManager.ts';
import { commandIds } from '../commands/commandIds.ts';
import { SessionTree } from './sessionTree.ts';

/** Registers the view of the sessions, and what only its rows do. */
export function registerSessionView(sessions: SessionManager): Disposable {
  const store = new DisposableStore();
  store.add(new SessionTree(sessions));
  store.add(
    vscode.commands.registerCommand(commandIds.copySessionCommand, async (session?: Session) => {
      if (session !== undefined) {
        await vscode.env.clipboard.writeText(session.commandLine);
      }
    }),
  );
  store.add(
    vscode.commands.registerCommand(commandIds.showSessionDenials, () =>
      vscode.commands.executeCommand('cordon.denials.focus'),
    ),
  );
  return store;
}
