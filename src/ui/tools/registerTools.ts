import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Tool } from '../../runtime/tools/tool.ts';
import { ConfirmationLedger } from './confirmationLedger.ts';
import { createLanguageModelTool } from './languageModelTool.ts';

/** Makes the runtime's tools callable by the editor's language models, under the names of the manifest. */
export function registerTools(tools: readonly Tool[]): Disposable {
  const store = new DisposableStore();
  const ledger = new ConfirmationLedger();
  for (const tool of tools) {
    const name = `cordon_${tool.name}`;
    store.add(vscode.lm.registerTool(name, createLanguageModelTool(tool, { name, ledger })));
  }
  return store;
}
