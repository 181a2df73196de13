import { lstat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { bytesOf, textOf } from '../files/documentBytes.vscode.ts';
import type { EditorPaths } from '../files/editorPaths.vscode.ts';
import type { PatchError } from '../patchError.ts';
import type { PlannedChange, UpdateChange } from '../plan/plan.ts';
import { editRoute, entangledChanges, pathsOf, textObstacle } from './editRoute.ts';
import type { EditRoute } from './editRoute.ts';
import { untilText } from './untilText.vscode.ts';

/** The changes of a plan by the way they take. */
export interface RoutedChanges {
  readonly updates: readonly DocumentUpdate[];
  /** Creations, deletions and plain renames that the editor carries out. */
  readonly operations: readonly Exclude<PlannedChange, UpdateChange>[];
  readonly engine: readonly PlannedChange[];
}

/** A file that changes inside its document. */
export interface DocumentUpdate {
  readonly change: UpdateChange;
  readonly document: vscode.TextDocument;
  readonly textBefore: string;
  readonly textAfter: string;
  readonly wasDirty: boolean;
}

/** Decides for every change, and logs why where it is not the editor. Opens documents; changes nothing. */
export async function routeChanges(
  changes: readonly PlannedChange[],
  paths: EditorPaths,
  log: Log,
): Promise<Result<RoutedChanges, PatchError>> {
  const entangled = entangledChanges(changes);
  const routed = await Promise.all(
    changes.map((change) => routeChange(change, paths, entangled.has(change))),
  );
  for (const { change, route } of routed) {
    if (route.kind === 'refused') {
      return fail({
        kind: 'io.write',
        message: `${change.name} cannot be changed: ${route.reason}.`,
        hint: 'Save or revert it first, then apply the patch again.',
        path: change.path,
      });
    }
    log.debug(
      route.kind === 'edit'
        ? `${change.kind} ${change.path}: through the editor`
        : `${change.kind} ${change.path}: directly on the disk, because ${route.reason}`,
    );
  }
  return ok({
    updates: routed.flatMap(({ update }) => update ?? []),
    operations: routed.flatMap(({ change, route }) =>
      route.kind === 'edit' && change.kind !== 'update' ? [change] : [],
    ),
    engine: routed.flatMap(({ change, route }) => (route.kind === 'engine' ? [change] : [])),
  });
}

interface RoutedChange {
  readonly change: PlannedChange;
  readonly route: EditRoute;
  readonly update?: DocumentUpdate;
}

async function routeChange(
  change: PlannedChange,
  paths: EditorPaths,
  isEntangled: boolean,
): Promise<RoutedChange> {
  const isDirty = (path: string): boolean => paths.documentsAt(path).some((document) => document.isDirty);
  const route = editRoute(change, {
    isDirty: isDirty(change.path),
    isDestinationDirty: change.kind === 'move' && isDirty(change.toPath),
    isInWorkspace: pathsOf(change).every((path) => paths.isInWorkspace(path)),
    newFileMode: 0o666 & ~process.umask(),
    links: await linksOf(change.path),
    isEntangled,
  });
  if (route.kind !== 'edit' || change.kind !== 'update') {
    return { change, route };
  }
  const document = await openDocument(change, paths);
  const obstacle = await obstacleOf(change, document);
  if (document === undefined || obstacle !== undefined) {
    const reason = obstacle ?? 'it is binary';
    return {
      change,
      route: document?.isDirty
        ? { kind: 'refused', reason: `it has unsaved changes, and ${reason}` }
        : { kind: 'engine', reason },
    };
  }
  const update: DocumentUpdate = {
    change,
    document,
    textBefore: document.getText(),
    textAfter: (await textOf(change.after, document.encoding)) ?? '',
    wasDirty: document.isDirty,
  };
  return { change, route, update };
}

/** The document to edit: the one with the unsaved text, if there is one. */
async function openDocument(
  change: UpdateChange,
  paths: EditorPaths,
): Promise<vscode.TextDocument | undefined> {
  const open = paths.documentsAt(change.path);
  try {
    const document =
      open.find(({ isDirty }) => isDirty) ??
      open[0] ??
      (await vscode.workspace.openTextDocument(paths.uriOf(change.path)));
    if (!document.isDirty) {
      // A command may have changed the file a moment ago.
      await untilText(document, (await textOf(change.before.bytes, document.encoding)) ?? '');
    }
    return document;
  } catch {
    return undefined; // the editor takes it for binary
  }
}

async function obstacleOf(
  { before, after }: UpdateChange,
  document: vscode.TextDocument | undefined,
): Promise<string | undefined> {
  const encoding = document?.encoding ?? '';
  const textAfter = document && (await textOf(after, encoding));
  return textObstacle({
    before: before.bytes,
    savedBefore: document && (await bytesOf(document)),
    after,
    textAfter,
    savedAfter:
      textAfter === undefined
        ? undefined
        : Buffer.from(await vscode.workspace.encode(textAfter, { encoding })),
    encoding,
    lineEnd: document?.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n',
  });
}

async function linksOf(path: string): Promise<number> {
  return lstat(path).then(
    ({ nlink }) => nlink,
    () => 1,
  );
}
