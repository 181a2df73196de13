import * as vscode from 'vscode';

/** The editor opens no terminal in an untrusted workspace: it would ask for trust with every attempt. */
export async function tellNoTerminals(): Promise<void> {
  const manage = 'Manage Workspace Trust';
  const answer = await vscode.window.showWarningMessage(
    'This workspace is not trusted, and the editor opens no terminals in it. Trust it to run commands by hand, or to look at sessions.',
    manage,
  );
  if (answer === manage) {
    await vscode.commands.executeCommand('workbench.trust.manage');
  }
}
