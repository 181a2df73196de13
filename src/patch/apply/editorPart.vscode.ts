import * as vscode from 'vscode';
import type { EditorPaths } from '../files/editorPaths.vscode.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { FileError } from '../files/fileSystem.ts';
import type { PatchError } from '../patchError.ts';
import { takeDiskSnapshot } from './diskSnapshot.ts';
import { reopenUntitled, rollBackDocument, setTextEdits } from './documentText.vscode.ts';
import { pathsOf } from './editRoute.ts';
import type { DocumentUpdate, RoutedChanges } from './routePlan.vscode.ts';
import { saveExactly } from './saveExactly.vscode.ts';
import { textReplacements } from './textReplacements.ts';
import { watchTabs } from './watchTabs.vscode.ts';

/** The part of a plan that the editor carries out, in one step that can be undone. */
export interface EditorPart {
  /** Edits, saves and compares with the plan. After an error, {@link rollBack} is still to be called. */
  apply(): Promise<PatchError | undefined>;
  /** Brings documents and disk back. Gives a sentence for each file that is not what it was. */
  rollBack(): Promise<readonly string[]>;
  /** Names of the files that saving changed, so that their bytes had to be written once more. */
  readonly repaired: readonly string[];
}

export interface EditorPartOptions {
  readonly routed: RoutedChanges;
  readonly paths: EditorPaths;
  readonly disk: FileSystem;
  /** How the undo step is called. */
  readonly label: string;
}

/** Remembers what documents and disk hold now, and prepares the change of both. Throws {@link FileError}. */
export async function prepareEditorPart(options: EditorPartOptions): Promise<EditorPart> {
  const { routed, disk } = options;
  const { updates, operations } = routed;
  const changes = [...updates.map(({ change }) => change), ...operations];
  const snapshot = await takeDiskSnapshot(changes.flatMap(pathsOf), disk);
  const written = new Map<string, Buffer[]>();
  const saved = new Set<DocumentUpdate>();
  const repaired: string[] = [];

  const saveAll = async (those: readonly DocumentUpdate[]): Promise<PatchError | undefined> => {
    const errors = await Promise.all(
      those.map(async (update) => {
        const { change, document } = update;
        saved.add(update);
        const outcome = await saveExactly(document, change.path, change.after, disk);
        if (outcome.kind === 'repaired') {
          repaired.push(change.name);
        }
        return outcome.kind === 'failed' ? notSaved(update, outcome.reason) : undefined;
      }),
    );
    return errors.find((error) => error !== undefined);
  };

  return {
    repaired,
    async apply() {
      for (const change of changes) {
        if (change.kind !== 'delete') {
          written.set(change.kind === 'move' ? change.toPath : change.path, [change.after]);
        }
      }
      const tabs = watchTabs(updates.map(({ document }) => document));
      try {
        // An empty edit counts as refused.
        if (changes.length > 0 && !(await vscode.workspace.applyEdit(workspaceEdit(options)))) {
          return editRefused(changes.map(({ name }) => name));
        }
        // Documents that had unsaved changes last: going back is simplest while they have not been saved.
        const error =
          (await saveAll(updates.filter(({ wasDirty }) => !wasDirty))) ??
          (await saveAll(updates.filter(({ wasDirty }) => wasDirty))) ??
          (await firstDifference(changes, disk));
        await tabs.closeNew();
        return error;
      } finally {
        tabs.dispose();
      }
    },
    async rollBack() {
      await renameBack(options);
      const problems: string[] = [];
      for (const update of updates) {
        const bytes = snapshot.bytesAt(update.change.path);
        if (!(await rollBackDocument(update, saved.has(update), bytes, disk))) {
          problems.push(`The text of ${update.change.name} could not be changed back.`);
        }
      }
      problems.push(...(await snapshot.restore(written)));
      for (const update of updates) {
        await reopenUntitled(update);
      }
      return problems;
    },
  };
}

/**
 * All of it as one edit: what frees places, then what takes them, then the texts. They come last because the editor
 * opens a tab for a document that has unsaved text for the better part of a second.
 */
function workspaceEdit({ routed, paths, label }: EditorPartOptions): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  const metadata = { needsConfirmation: false, label };
  const order = { delete: 0, move: 1, create: 2 } as const;
  for (const change of [...routed.operations].sort((a, b) => order[a.kind] - order[b.kind])) {
    switch (change.kind) {
      case 'delete':
        edit.deleteFile(paths.uriOf(change.path), {}, metadata);
        break;
      case 'move':
        edit.renameFile(paths.uriOf(change.path), paths.uriOf(change.toPath), {}, metadata);
        break;
      case 'create':
        edit.createFile(paths.uriOf(change.path), { contents: change.after }, metadata);
        break;
    }
  }
  for (const { change, document, textBefore, textAfter } of routed.updates) {
    setTextEdits(edit, document.uri, textReplacements(textBefore, textAfter, change.edits), label);
  }
  return edit;
}

/** The editor tells nothing about what it did not do: the disk does. */
async function firstDifference(
  changes: readonly (DocumentUpdate['change'] | RoutedChanges['operations'][number])[],
  disk: FileSystem,
): Promise<PatchError | undefined> {
  for (const change of changes) {
    const path = change.kind === 'move' ? change.toPath : change.path;
    const entry = await disk.stat(path);
    const isAsPlanned =
      change.kind === 'delete'
        ? entry.kind === 'missing'
        : entry.kind === 'file' && (await disk.read(path)).equals(change.after);
    const isSourceGone = change.kind !== 'move' || (await disk.stat(change.path)).kind === 'missing';
    if (!isAsPlanned || !isSourceGone) {
      return {
        kind: 'io.write',
        message: `${change.name} is not what the patch makes of it after the editor applied the patch.`,
        hint: 'Another program or extension changes it at the same time. Read the file, then try again.',
        path,
      };
    }
  }
  return undefined;
}

/** The editor moves open documents along, which a rename on the disk would not. */
async function renameBack({ routed, paths, disk }: EditorPartOptions): Promise<void> {
  for (const change of routed.operations) {
    if (change.kind === 'move' && (await isMissing(change.path, disk))) {
      const edit = new vscode.WorkspaceEdit();
      edit.renameFile(paths.uriOf(change.toPath), paths.uriOf(change.path));
      await vscode.workspace.applyEdit(edit);
    }
  }
}

async function isMissing(path: string, disk: FileSystem): Promise<boolean> {
  return disk.stat(path).then(
    ({ kind }) => kind === 'missing',
    (error: unknown) => {
      if (error instanceof FileError) {
        return false;
      }
      throw error;
    },
  );
}

function notSaved({ change }: DocumentUpdate, reason: string): PatchError {
  return {
    kind: 'io.write',
    message: `${change.name} could not be written: ${reason}.`,
    hint: 'Nothing was changed. Save or revert the file in the editor, or read it anew, and try again.',
    path: change.path,
  };
}

function editRefused(names: readonly string[]): PatchError {
  return {
    kind: 'io.write',
    message: `The editor did not apply the change of ${names.join(', ')}. It gives no reason; a file or folder of that name may have appeared, or it may not be written.`,
    hint: 'Nothing was changed. Read the files, then try again.',
  };
}
