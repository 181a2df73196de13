import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Checkpoint } from '../../patch/checkpoint/checkpoint.ts';
import type { CheckpointStore } from '../../patch/checkpoint/checkpointStore.ts';
import type { CheckpointNode } from '../checkpoints/checkpointTree.ts';
import { checkpointSummary } from '../checkpoints/checkpointWords.ts';
import { restoreCheckpoint } from '../checkpoints/restoreCheckpoint.ts';
import type { RestoreDependencies } from '../checkpoints/restoreCheckpoint.ts';
import { showChanges } from '../checkpoints/showChanges.ts';
import { commandIds } from './commandIds.ts';
import { onMachine } from '../machineWords.ts';
import { withoutLinks } from '../oneLine.ts';

/** Registers the commands of checkpoints: those of the tree's rows, and one for the palette that lets choose. */
export function registerCheckpointCommands(dependencies: RestoreDependencies): Disposable {
  const { checkpoints } = dependencies;
  const store = new DisposableStore();
  const register = (id: string, action: (node: CheckpointNode | undefined) => Promise<void>): void => {
    store.add(vscode.commands.registerCommand(id, action));
  };
  register(commandIds.restoreCheckpoint, async (node) => {
    const checkpoint = node?.checkpoint ?? (await pickCheckpoint(checkpoints));
    if (checkpoint !== undefined) {
      await restoreCheckpoint(checkpoint, dependencies);
    }
  });
  register(commandIds.showCheckpointChanges, async (node) => {
    if (node !== undefined) {
      await showChanges(node.checkpoint);
    }
  });
  register(commandIds.deleteCheckpoint, async (node) => {
    if (node !== undefined) {
      await deleteCheckpoint(node.checkpoint, checkpoints);
    }
  });
  return store;
}

interface Entry extends vscode.QuickPickItem {
  readonly checkpoint: Checkpoint;
}

async function pickCheckpoint(checkpoints: CheckpointStore): Promise<Checkpoint | undefined> {
  const all = await checkpoints.list();
  if (all.length === 0) {
    await vscode.window.showInformationMessage(
      'There are no checkpoints yet. Every patch that is applied leaves one.',
    );
    return undefined;
  }
  const placeOf = (checkpoint: Checkpoint): string => onMachine(checkpoint) + checkpoint.root;
  const isOneRoot = new Set(all.map(placeOf)).size === 1;
  const entries = all.map((checkpoint): Entry => {
    return {
      label: checkpoint.title,
      description: checkpointSummary(checkpoint, new Date()),
      ...(isOneRoot ? {} : { detail: placeOf(checkpoint) }),
      checkpoint,
    };
  });
  const picked = await vscode.window.showQuickPick(entries, {
    placeHolder: 'Which patch do you want to take back?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked?.checkpoint;
}

async function deleteCheckpoint(checkpoint: Checkpoint, checkpoints: CheckpointStore): Promise<void> {
  const yes = 'Delete';
  const answer = await vscode.window.showWarningMessage(
    withoutLinks(`Delete the checkpoint of “${checkpoint.title}”?`),
    { modal: true, detail: 'The files stay as they are. The patch can then no longer be taken back.' },
    yes,
  );
  if (answer === yes) {
    await checkpoints.remove(checkpoint.id);
  }
}
