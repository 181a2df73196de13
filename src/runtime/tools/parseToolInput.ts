import type * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Tool } from './tool.ts';

/** Parses what a caller sent; the error names each field, its value and what is expected. Unknown fields are ignored. */
export function parseToolInput<Input>(tool: Tool<Input>, input: unknown): Result<Input, string> {
  const parsed = tool.inputSchema.safeParse(input, { reportInput: true });
  if (parsed.success) {
    return ok(parsed.data);
  }
  const problems = parsed.error.issues.map(describeIssue);
  return fail(`${tool.name} failed: the input is not valid.\n${problems.join('\n')}`);
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const field = issue.path.length === 0 ? 'input' : issue.path.join('.');
  const value =
    issue.input === undefined ? 'missing' : (JSON.stringify(issue.input) ?? 'unset').slice(0, 100);
  return `- ${field} (${value}): ${issue.message}`;
}
