import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { GrantStore } from '../../runtime/approvals/grantStore.ts';
import type { DenialLog, DenialRecord } from '../../runtime/denials/denialLog.ts';
import type { SessionManager } from '../../runtime/sessions/sessionManager.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { commandIds } from '../commands/commandIds.ts';
import { runInTerminal } from '../commands/runInTerminal.ts';
import type { RunInTerminalOptions } from '../commands/runInTerminal.ts';
import { oneLine, withoutIcons, withoutLinks } from '../oneLine.ts';
import { allowDenied } from './allowDenied.ts';
import type { DenialNode } from './denialTree.ts';
import { DenialTree } from './denialTree.ts';
import { denialLabel, denialWords } from './denialWords.ts';

export interface DenialsOptions extends RunInTerminalOptions {
  readonly denials: DenialLog;
  readonly grants: GrantStore;
  readonly sessions: SessionManager;
}

/** Registers the view of what the sandbox stopped, and the commands that do something about it. */
export function registerDenials(options: DenialsOptions): Disposable {
  const { denials, grants, policies, sessions, terminals } = options;
  const store = new DisposableStore();
  store.add(new DenialTree(denials, policies));
  const runAgain = (record: DenialRecord, widenings: readonly Widening[] = []): Promise<void> => {
    const { root, commandLine, cwd } = record;
    return runInTerminal(options, { root, commandLine, cwd, widenings });
  };
  const register = (
    id: string,
    isOffered: (record: DenialRecord) => boolean,
    action: (node: DenialNode) => Promise<void> | void,
  ): void => {
    store.add(
      vscode.commands.registerCommand(id, async (row?: DenialNode) => {
        const node = row ?? (await pickDenial(denials.list().filter(isOffered)));
        if (node !== undefined) {
          await action(node);
        }
      }),
    );
  };
  register(
    commandIds.allowDenied,
    ({ fixes }) => fixes.length > 0,
    (node) =>
      allowDenied({ policies, grants, runAgain }, node.record, node.kind === 'fix' ? node.fix : undefined),
  );
  register(
    commandIds.runDeniedAgain,
    () => true,
    ({ record }) => runAgain(record),
  );
  register(
    commandIds.showDeniedSession,
    ({ sessionId }) => sessions.get(sessionId) !== undefined,
    async ({ record: { sessionId } }) => {
      const session = sessions.get(sessionId);
      if (session === undefined) {
        await vscode.window.showInformationMessage(
          withoutLinks(`Session ${sessionId} is not kept any more.`),
        );
      } else {
        terminals.show(session);
      }
    },
  );
  register(
    commandIds.dismissDenial,
    () => true,
    ({ record }) => denials.clear(record.id),
  );
  store.add(vscode.commands.registerCommand(commandIds.clearDenials, () => denials.clear()));
  return store;
}

interface Entry extends vscode.QuickPickItem {
  readonly record: DenialRecord;
}

async function pickDenial(records: readonly DenialRecord[]): Promise<DenialNode | undefined> {
  if (records.length === 0) {
    await vscode.window.showInformationMessage('There is no such denial now.');
    return undefined;
  }
  const entries = records.map((record): Entry => {
    return {
      label: withoutIcons(denialLabel(record)),
      description: withoutIcons(denialWords(record, record.root.name, new Date())),
      detail: withoutIcons(oneLine(record.denial.message, 300).text),
      record,
    };
  });
  const picked = await vscode.window.showQuickPick(entries, {
    placeHolder: 'Which denial?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked && { kind: 'denial', record: picked.record };
}
