import * as vscode from 'vscode';
import type { DenialLog } from '../../runtime/denials/denialLog.ts';
import type { Session } from '../../runtime/sessions/session.ts';
import { exitSentence, shortCommand } from '../../terminal/sessionWords.ts';
import { withoutLinks } from '../oneLine.ts';
import { denialCure, clauseLines } from '../policyWords.ts';
import type { SessionTerminals } from '../sessionTerminals.ts';
import { commandIds } from './commandIds.ts';

const show = 'Show Terminal';
const allow = 'Allow…';
const why = 'Why?';
const change = 'Change Sandbox…';
const settings = 'Open Settings';

/** Tells a person how the command ended that they ran: failures and denials always, a success when it took long. */
export async function reportEnd(
  session: Session,
  terminals: SessionTerminals,
  denials: DenialLog,
): Promise<void> {
  const { state } = session;
  if (state.kind === 'running') {
    return;
  }
  const command = `“${shortCommand(session.commandLine, 60)}”`;
  const denial = session.denial();
  if (denial !== undefined) {
    const text = withoutLinks(`${command}: ${denial.message}`);
    const record = denials
      .list()
      .find(({ sessionId, fixes }) => sessionId === session.id && fixes.length > 0);
    const buttons = record === undefined ? [why, change, settings] : [allow, why, change];
    const answer = await vscode.window.showWarningMessage(withoutLinks(text), ...buttons);
    if (answer === allow) {
      await vscode.commands.executeCommand(commandIds.allowDenied, { kind: 'denial', record });
    } else {
      await act(answer, session, terminals);
    }
    return;
  }
  if (state.exitCode === 0) {
    if (state.durationMs >= worthTellingMs) {
      await act(
        await vscode.window.showInformationMessage(
          withoutLinks(`${command} succeeded. ${exitSentence(session, state)}`),
          show,
        ),
        session,
        terminals,
      );
    }
    return;
  }
  const text = `${command} failed. ${exitSentence(session, state)}`;
  await act(await vscode.window.showWarningMessage(withoutLinks(text), show), session, terminals);
}

/** Whoever waited that long has probably looked away. */
const worthTellingMs = 10_000;

async function act(answer: string | undefined, session: Session, terminals: SessionTerminals): Promise<void> {
  switch (answer) {
    case show:
      terminals.show(session);
      break;
    case why:
      await explainDenial(session, terminals);
      break;
    case change:
      await vscode.commands.executeCommand(commandIds.changeSandbox);
      break;
    case undefined:
      break;
    case settings:
      await vscode.commands.executeCommand('workbench.action.openSettings', 'cordon.sandbox');
      break;
  }
}

async function explainDenial(session: Session, terminals: SessionTerminals): Promise<void> {
  const denial = session.denial();
  if (denial === undefined) {
    return;
  }
  const clauses = clauseLines(session.policy).map((clause) => `• ${clause}`);
  const detail = [
    denial.message,
    denialCure(denial.clause),
    [`The policy that it ran under, in ${session.root.name}:`, ...clauses].join('\n'),
  ].join('\n\n');
  const answer = await vscode.window.showInformationMessage(
    withoutLinks(`Why the sandbox stopped “${shortCommand(session.commandLine, 60)}”`),
    { modal: true, detail },
    change,
    settings,
  );
  await act(answer, session, terminals);
}
