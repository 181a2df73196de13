import type * as z from 'zod';

/** A question that must be answered with yes before this exact input runs. */
export interface Confirmation {
  readonly title: string;
  /** Reads well as plain text: the command on a line of its own. */
  readonly message: string;
  /** Exactly what is asked about: a yes counts for the same text only. */
  readonly scope: string;
}

/** One tool of the runtime: schema, words for the person, and what it does. */
export interface Tool<Input = unknown> {
  readonly name: string;
  readonly inputSchema: z.ZodType<Input>;
  /** What is shown while it runs; free of side effects. */
  invocationMessage(input: Input): string;
  /** Present when this input needs a person's yes under the policy in force now. */
  confirmation(input: Input): Promise<Confirmation | undefined>;
  invoke(input: Input, context: ToolContext): Promise<ToolResult>;
}

export interface ToolContext {
  /** Aborted when the caller gives up: what the call started is ended with its whole process group. */
  readonly signal: AbortSignal;
  /** Who calls, in words for the person who is asked: "Copilot chat", the name of an MCP client. */
  readonly owner: string;
  /** Whether the caller's own card has put exactly this to the person, who said yes; counts once. */
  wasConfirmed(confirmation: Confirmation): boolean;
}

/** What goes back to the model. Errors are text for it, too: what was asked, what stopped it, what to do. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  /** The session that the call started or used, when it is still known. */
  readonly sessionId?: number;
}

/** A failure as text for the model: which tool, what stopped it, what to do. */
export function toolError(
  tool: string,
  { message, hint }: { readonly message: string; readonly hint: string },
): ToolResult {
  return { text: `${tool} failed: ${message}\n${hint}`, isError: true };
}
