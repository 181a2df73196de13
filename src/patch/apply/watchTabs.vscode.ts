import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';

export interface TabWatch extends Disposable {
  /** Closes the tabs that nobody but the editor opened. To be called when the documents are saved. */
  closeNew(): Promise<void>;
}

/**
 * Watches for tabs of documents that are about to change. The editor opens one, behind the others, when a document has
 * unsaved text for about a second; after the patch is saved, nobody needs it. Tabs that a person opens meanwhile, in
 * front or as a preview, stay.
 */
export function watchTabs(documents: readonly vscode.TextDocument[]): TabWatch {
  const addresses = new Set(documents.map(({ uri }) => uri.toString()));
  const opened = new Set<vscode.Tab>();
  const subscription = vscode.window.tabGroups.onDidChangeTabs((event) => {
    for (const tab of event.opened) {
      if (tab.input instanceof vscode.TabInputText && addresses.has(tab.input.uri.toString())) {
        opened.add(tab);
      }
    }
  });
  const isOnlyOurs = ({ tabs }: vscode.TabGroup): boolean => tabs.every((tab) => opened.has(tab));
  return {
    async closeNew() {
      const tabs = [...opened].filter(
        (tab) => !tab.isPreview && (!tab.isActive || isOnlyOurs(tab.group)) && !hasUnsavedText(tab),
      );
      try {
        await vscode.window.tabGroups.close(tabs, true);
      } catch {
        // The person closed one of them in the same moment.
      }
    },
    dispose: () => void subscription.dispose(),
  };
}

/** What the tab itself says about it is behind the document by a moment. */
function hasUnsavedText({ input }: vscode.Tab): boolean {
  const address = input instanceof vscode.TabInputText ? input.uri.toString() : '';
  return vscode.workspace.textDocuments.some(
    (document) => document.uri.toString() === address && document.isDirty,
  );
}
