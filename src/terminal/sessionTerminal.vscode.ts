import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { SessionView } from './sessionView.ts';
import { SessionPseudoterminal } from './sessionPseudoterminal.vscode.ts';
import type { PseudoterminalOptions } from './sessionPseudoterminal.vscode.ts';
import { terminalName } from './sessionWords.ts';

/** Makes a terminal that shows a session. It is not shown yet; any number may look at one session. */
export function createSessionTerminal(
  session: SessionView,
  options: Omit<PseudoterminalOptions, 'nonce'>,
): vscode.Terminal {
  const nonce = randomUUID();
  return vscode.window.createTerminal({
    name: terminalName(session),
    pty: new SessionPseudoterminal(session, { ...options, nonce }),
    iconPath: new vscode.ThemeIcon(session.isUnsandboxed ? 'warning' : 'shield'),
    shellIntegrationNonce: nonce,
    // Extension terminals do not survive a reload: without this a dead tab would come back.
    isTransient: true,
  });
}
