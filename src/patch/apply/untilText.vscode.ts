import * as vscode from 'vscode';

/**
 * Waits until an open document shows a text, line ends aside, as it does soon after its file changed on disk. False
 * when it does not within a few times what the editor usually takes.
 */
export function untilText(document: vscode.TextDocument, text: string): Promise<boolean> {
  const isThere = (): boolean =>
    document.getText() === text || withLineFeeds(document.getText()) === withLineFeeds(text);
  if (isThere()) {
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    const end = (answer: boolean): void => {
      clearTimeout(timer);
      subscription.dispose();
      resolve(answer);
    };
    const subscription = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === document && isThere()) {
        end(true);
      }
    });
    const timer = setTimeout(() => end(false), reloadLimitMs);
  });
}

const reloadLimitMs = 2000;

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
