import * as vscode from 'vscode';

/** Calls a tool as a model does, outside of any chat, and gives its text. */
export async function callTool(
  name: string,
  input: object,
  token: vscode.CancellationToken = new vscode.CancellationTokenSource().token,
): Promise<string> {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}

/** Runs a command through the tool; login is off so that the person's profile adds no output. */
export function exec(cmd: string, more: object = {}): Promise<string> {
  return callTool('cordon_exec_command', { cmd, login: false, ...more });
}

/** The session that an answer names. */
export function sessionId(answer: string): number {
  const id = /session ID (\d+)/.exec(answer)?.[1];
  if (id === undefined) {
    throw new Error(`The answer names no running session:\n${answer}`);
  }
  return Number(id);
}

/** The folder that is open. */
export function rootFolder(): vscode.WorkspaceFolder {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) {
    throw new Error('No folder is open.');
  }
  return folder;
}
