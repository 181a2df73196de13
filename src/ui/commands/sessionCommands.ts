import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Session } from '../../runtime/sessions/session.ts';
import type { SessionManager } from '../../runtime/sessions/sessionManager.ts';
import { shortCommand, stateWords } from '../../terminal/sessionWords.ts';
import { newestFirst } from '../sessions/sessionRows.ts';
import type { SessionTerminals } from '../sessionTerminals.ts';
import { commandIds } from './commandIds.ts';

/** Registers the commands that show and end sessions. */
export function registerSessionCommands(sessions: SessionManager, terminals: SessionTerminals): Disposable {
  const store = new DisposableStore();
  /** By its number, or a row of the view. */
  const named = (given: unknown): Session | undefined =>
    typeof given === 'number' ? sessions.get(given) : sessions.list().find((session) => session === given);
  store.add(
    vscode.commands.registerCommand(commandIds.showSession, async (given?: unknown) => {
      const session =
        named(given) ?? (await pickSession(sessions, terminals, 'Which session do you want to see?'));
      if (session !== undefined) {
        terminals.show(session);
      }
    }),
  );
  store.add(
    vscode.commands.registerCommand(commandIds.killSession, async (given?: unknown) => {
      const running = (session: Session): boolean => session.state.kind === 'running';
      const session =
        named(given) ??
        (await pickSession(sessions, terminals, 'Which session do you want to end?', running));
      await session?.terminate();
    }),
  );
  return store;
}

interface Entry extends vscode.QuickPickItem {
  readonly session: Session;
}

const killButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: 'End this session' };
const anotherButton = { iconPath: new vscode.ThemeIcon('add'), tooltip: 'Show in one more terminal' };

async function pickSession(
  sessions: SessionManager,
  terminals: SessionTerminals,
  question: string,
  isOffered: (session: Session) => boolean = () => true,
): Promise<Session | undefined> {
  const list = (): readonly Entry[] => sessions.list().filter(isOffered).sort(newestFirst).map(entryOf);
  if (list().length === 0) {
    await vscode.window.showInformationMessage('There is no such session now.');
    return undefined;
  }
  const store = new DisposableStore();
  const picker = store.add(vscode.window.createQuickPick<Entry>());
  picker.placeholder = question;
  picker.matchOnDescription = true;
  picker.items = list();
  store.add(sessions.onDidChange(() => (picker.items = list())));
  try {
    return await new Promise<Session | undefined>((resolve) => {
      picker.onDidTriggerItemButton(({ button, item }) => {
        if (button === killButton) {
          void item.session.terminate();
        } else {
          // In this order: hiding gives the focus back to where it was before.
          picker.hide();
          terminals.showAnother(item.session);
        }
      });
      picker.onDidAccept(() => resolve(picker.selectedItems[0]?.session));
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
  } finally {
    store.dispose();
  }
}

function entryOf(session: Session): Entry {
  const isRunning = session.state.kind === 'running';
  return {
    label: shortCommand(session.commandLine, 80),
    description: `${session.id} · ${stateWords(session.state)}`,
    detail: `${session.cwd} · ${session.owner === 'person' ? 'started by you' : 'started by an agent'}`,
    buttons: isRunning ? [anotherButton, killButton] : [anotherButton],
    session,
  };
}
