import * as vscode from 'vscode';

/** What saving a document would write, without what the settings for saving change. */
export async function bytesOf(document: vscode.TextDocument): Promise<Buffer> {
  return Buffer.from(await vscode.workspace.encode(document.getText(), { encoding: document.encoding }));
}

/** Bytes as an encoding reads them; undefined when the editor takes them for binary. */
export async function textOf(bytes: Buffer, encoding: string): Promise<string | undefined> {
  try {
    return await vscode.workspace.decode(bytes, { encoding });
  } catch {
    return undefined;
  }
}
