import { relative } from 'node:path';
import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Checkpoint, CheckpointFile } from '../../patch/checkpoint/checkpoint.ts';
import type { CheckpointStore } from '../../patch/checkpoint/checkpointStore.ts';
import { onMachine } from '../machineWords.ts';
import { rootLabel } from '../rootLabel.ts';
import { timeWords } from '../timeWords.ts';
import { checkpointSummary, fileLetter, letterWords, shownFiles } from './checkpointWords.ts';
import { fileUriOf, openFileChange } from './showChanges.ts';

/** A row: a checkpoint, or one of its files. */
export type CheckpointNode =
  | { readonly kind: 'checkpoint'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'file'; readonly checkpoint: Checkpoint; readonly file: CheckpointFile };

/** Shows the checkpoints, newest first, with the files of each below it. */
export function createCheckpointTree(checkpoints: CheckpointStore): Disposable {
  const store = new DisposableStore();
  const didChange = store.add(new vscode.EventEmitter<undefined>());
  const view = store.add(
    vscode.window.createTreeView<CheckpointNode>('cordon.checkpoints', {
      showCollapseAll: true,
      treeDataProvider: {
        onDidChangeTreeData: didChange.event,
        getTreeItem: (node) => (node.kind === 'file' ? fileItem(node) : checkpointItem(node.checkpoint)),
        getParent: (node) =>
          node.kind === 'file' ? { kind: 'checkpoint', checkpoint: node.checkpoint } : undefined,
        async getChildren(node) {
          if (node === undefined) {
            return (await checkpoints.list()).map((checkpoint) => ({ kind: 'checkpoint', checkpoint }));
          }
          const { checkpoint } = node;
          return node.kind === 'file'
            ? []
            : shownFiles(checkpoint).map((file) => ({ kind: 'file', checkpoint, file }));
        },
      },
    }),
  );
  const refresh = (): void => didChange.fire(undefined);
  store.add(checkpoints.onDidChange(refresh));
  // Another window of the same workspace may have added some.
  store.add(view.onDidChangeVisibility(({ visible }) => void (visible && refresh())));
  return store;
}

function checkpointItem(checkpoint: Checkpoint): vscode.TreeItem {
  const summary = checkpointSummary(checkpoint, new Date());
  // The time first: titles are long, and a narrow side bar cuts them.
  const item = new vscode.TreeItem(
    timeWords(checkpoint.createdAt, new Date()),
    vscode.TreeItemCollapsibleState.Collapsed,
  );
  item.id = checkpoint.id;
  const title = rootLabel(checkpoint.machine?.folder ?? checkpoint.root) + checkpoint.title;
  item.description = title;
  item.tooltip = `Before ${checkpoint.title}\n${summary} · in ${onMachine(checkpoint)}${checkpoint.root}`;
  item.iconPath = new vscode.ThemeIcon('history');
  item.contextValue = 'checkpoint';
  item.accessibilityInformation = { label: `Checkpoint before ${title}, ${summary}` };
  return item;
}

function fileItem({ checkpoint, file }: CheckpointNode & { readonly kind: 'file' }): vscode.TreeItem {
  const letter = fileLetter(file);
  const place = relative(checkpoint.root, file.path);
  const item = new vscode.TreeItem(fileUriOf(checkpoint, file), vscode.TreeItemCollapsibleState.None);
  item.id = `${checkpoint.id} ${file.path}`;
  item.label = place.startsWith('..') ? file.path : place;
  item.description = letter;
  item.tooltip = `${onMachine(checkpoint)}${file.path}, ${letterWords[letter]} by the patch`;
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = 'checkpointFile';
  item.command = openFileChange(checkpoint, file);
  item.accessibilityInformation = { label: `${place}, ${letterWords[letter]} by the patch` };
  return item;
}
