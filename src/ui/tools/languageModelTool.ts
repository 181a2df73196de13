import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import { parseToolInput } from '../../runtime/tools/parseToolInput.ts';
import type { Tool } from '../../runtime/tools/tool.ts';
import type { ConfirmationLedger } from './confirmationLedger.ts';
import { visibleText } from '../oneLine.ts';
import { escapeMarkdown } from './escapeMarkdown.ts';

export interface LanguageModelToolOptions {
  /** The name that the manifest gives it. */
  readonly name: string;
  readonly ledger: ConfirmationLedger;
}

/**
 * A runtime tool as the editor's language models call it. The editor checks no schema, lets the person edit
 * the input after it was prepared, and does not stop a cancelled tool: all of that is made up for here.
 */
export function createLanguageModelTool(
  tool: Tool,
  { name, ledger }: LanguageModelToolOptions,
): vscode.LanguageModelTool<unknown> {
  return {
    async prepareInvocation({ input: raw }) {
      const input = parseToolInput(tool, raw);
      if (!input.ok) {
        // Whatever is shown now, `invoke` refuses this input with the reason.
        return undefined;
      }
      const invocationMessage = plainText(tool.invocationMessage(input.value));
      const confirmation = await tool.confirmation(input.value);
      if (confirmation === undefined) {
        return { invocationMessage };
      }
      ledger.recordAsked(name, input.value, confirmation);
      const { title, message } = confirmation;
      return { invocationMessage, confirmationMessages: { title, message: plainText(message) } };
    },

    async invoke({ input: raw }, token) {
      const input = parseToolInput(tool, raw);
      if (!input.ok) {
        throw new Error(input.error);
      }
      const abort = abortSignalOf(token);
      try {
        const result = await tool.invoke(input.value, {
          signal: abort.signal,
          owner: 'Chat',
          // The runtime decides anew, on this input and the policy of now, whether a yes is needed.
          wasConfirmed: (confirmation) => ledger.useAnswer(name, input.value, confirmation),
        });
        if (result.isError) {
          throw new Error(result.text);
        }
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(result.text)]);
      } finally {
        abort.dispose();
      }
    },
  };
}

function abortSignalOf(token: vscode.CancellationToken): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  if (token.isCancellationRequested) {
    controller.abort();
  }
  const subscription = token.onCancellationRequested(() => controller.abort());
  return { signal: controller.signal, dispose: () => void subscription.dispose() };
}

/** A command line is not markdown: what it contains must not format, hide or link anything on the card. */
function plainText(text: string): vscode.MarkdownString {
  return new vscode.MarkdownString(escapeMarkdown(visibleText(text)));
}
