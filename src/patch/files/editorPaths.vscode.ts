import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { isInside } from '../../sandbox/paths.ts';

/** What the editor has at canonical paths, at one moment. */
export interface EditorPaths {
  /** The documents of a file; more than one when it was opened by several names. */
  documentsAt(path: string): readonly vscode.TextDocument[];
  /** The address by which the editor knows a file: below the workspace folder as that was opened. */
  uriOf(path: string): vscode.Uri;
  /** True when a workspace folder holds the path. */
  isInWorkspace(path: string): boolean;
}

/** Looks at the open documents and folders, and resolves the links in their paths. */
export async function readEditorPaths(): Promise<EditorPaths> {
  const documents = await documentsByPath(() => true);
  const folders = await Promise.all(
    (vscode.workspace.workspaceFolders ?? [])
      .filter(({ uri }) => uri.scheme === 'file')
      .map(async ({ uri }) => ({ uri, path: await canonicalPath(uri.fsPath) })),
  );
  folders.sort((a, b) => b.path.length - a.path.length);
  const folderOf = (path: string): (typeof folders)[number] | undefined =>
    folders.find((folder) => isInside(path, folder.path));
  return {
    documentsAt: (path) => documents.get(path) ?? [],
    uriOf(path) {
      const folder = folderOf(path);
      return (
        documents.get(path)?.[0]?.uri ??
        (folder === undefined
          ? vscode.Uri.file(path)
          : vscode.Uri.joinPath(folder.uri, relative(folder.path, path)))
      );
    },
    isInWorkspace: (path) => folderOf(path) !== undefined,
  };
}

/** The documents with unsaved changes that stand for the file at a canonical path. */
export async function dirtyDocumentsAt(path: string): Promise<readonly vscode.TextDocument[]> {
  return (await documentsByPath(({ isDirty }) => isDirty)).get(path) ?? [];
}

async function documentsByPath(
  isWanted: (document: vscode.TextDocument) => boolean,
): Promise<ReadonlyMap<string, readonly vscode.TextDocument[]>> {
  const found = new Map<string, vscode.TextDocument[]>();
  for (const document of vscode.workspace.textDocuments) {
    if (!document.isClosed && standsForFile(document) && isWanted(document)) {
      const path = await canonicalPath(document.uri.fsPath);
      found.set(path, [...(found.get(path) ?? []), document]);
    }
  }
  return found;
}

/** A file, or a document that was never saved but knows where it will be. */
function standsForFile({ uri }: vscode.TextDocument): boolean {
  return uri.scheme === 'file' || (uri.scheme === 'untitled' && uri.path.startsWith('/'));
}

/** The path with its links resolved, as far as it exists. */
async function canonicalPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await canonicalPath(parent), basename(path));
  }
}
