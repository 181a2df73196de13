import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { silentLog } from '../base/log.ts';
import { Approvals } from '../runtime/approvals/approvals.ts';
import { GrantStore } from '../runtime/approvals/grantStore.ts';
import { defaultApproval, neverAsk } from '../runtime/approvals/approvalPolicy.ts';
import { AuditLog } from '../runtime/audit/auditLog.ts';
import type { ToolRuntime } from '../runtime/toolRuntime.ts';
import { createToolRuntime } from '../runtime/toolRuntime.ts';
import { parseToolInput } from '../runtime/tools/parseToolInput.ts';
import type { ToolResult } from '../runtime/tools/tool.ts';
import {
  cliAccessUnder,
  cliHelperFolder,
  createCliSandbox,
  policyFromFlags,
  policyOptions,
  rootsOf,
} from './policyFlags.ts';
import { cliAuditFolder } from './auditFolder.ts';
import { UsageError } from './usageError.ts';

const execOptions = {
  ...policyOptions,
  tools: { type: 'boolean' },
  tty: { type: 'boolean' },
  output: { type: 'string' },
  'max-output-tokens': { type: 'string' },
} as const;

/** `cordon exec`: the exec tools, with the person at the terminal in the agent's place. */
export async function runExec(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const { root, policy } = policyFromFlags(values);
  const audit = new AuditLog({ folder: cliAuditFolder(), environment: process.env, log: silentLog });
  const runtime = createToolRuntime({
    // An agent's calls come from who knows where; a command that a person typed has its yes.
    roots: rootsOf(root, policy, values.tools === true ? neverAsk : defaultApproval),
    sandbox: createCliSandbox(policy),
    log: silentLog,
    parentEnv: process.env,
    approvals: new Approvals({ grants: new GrantStore(), expiresAfterMs: () => 0 }),
    audit,
    accessUnder: cliAccessUnder(),
    helperFolder: cliHelperFolder(),
  });
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => interrupt.abort());
  }
  try {
    if (values.tools === true) {
      return await serveToolCalls(runtime, interrupt.signal);
    }
    return await runToTheEnd(
      runtime,
      {
        cmd: positionals[0],
        tty: values.tty ?? false,
        ...(values.output !== undefined && { output: values.output }),
        ...(values['max-output-tokens'] !== undefined && {
          max_output_tokens: Number(values['max-output-tokens']),
        }),
      },
      interrupt.signal,
    );
  } finally {
    await runtime.dispose();
    await audit.dispose();
  }
}

function parse(args: readonly string[]) {
  const parsed = (() => {
    try {
      return parseArgs({ args: [...args], options: execOptions, strict: true, allowPositionals: true });
    } catch (error) {
      throw new UsageError((error as Error).message);
    }
  })();
  if (parsed.values.tools !== true && parsed.positionals.length !== 1) {
    throw new UsageError('pass the command as one argument, as in: cordon exec --root . "npm test"');
  }
  return parsed;
}

/** Prints each answer; polls until the command has ended, and exits as it did. */
async function runToTheEnd(runtime: ToolRuntime, input: unknown, signal: AbortSignal): Promise<number> {
  let result = await call(runtime, 'exec_command', input, signal);
  process.stdout.write(`${result.text}\n`);
  for (;;) {
    if (result.sessionId === undefined) {
      // A patch, or nothing that could be started.
      return result.isError ? 1 : 0;
    }
    const session = runtime.sessions.get(result.sessionId);
    if (session === undefined || signal.aborted) {
      return signal.aborted ? 130 : 1;
    }
    if (session.state.kind === 'exited') {
      return session.state.exitCode;
    }
    result = await call(runtime, 'write_stdin', { session_id: session.id }, signal);
    process.stdout.write(`${result.text}\n`);
  }
}

/** One call a line in, one answer a line out, in order of arrival; ends with its input. */
async function serveToolCalls(runtime: ToolRuntime, signal: AbortSignal): Promise<number> {
  for await (const line of createInterface({ input: process.stdin, signal })) {
    if (line.trim() !== '') {
      process.stdout.write(`${JSON.stringify(await answerLine(runtime, line, signal))}\n`);
    }
  }
  return 0;
}

async function answerLine(runtime: ToolRuntime, line: string, signal: AbortSignal): Promise<ToolResult> {
  try {
    const { tool, input } = JSON.parse(line) as { tool?: unknown; input?: unknown };
    return await call(runtime, String(tool), input ?? {}, signal);
  } catch (error) {
    return { text: `The line is not a tool call: ${(error as Error).message}`, isError: true };
  }
}

async function call(
  runtime: ToolRuntime,
  name: string,
  input: unknown,
  signal: AbortSignal,
): Promise<ToolResult> {
  const tool = runtime.tools.find((candidate) => candidate.name === name);
  if (tool === undefined) {
    const names = runtime.tools.map((candidate) => candidate.name).join(', ');
    return { text: `tool ${JSON.stringify(name)} does not exist. Tools are: ${names}.`, isError: true };
  }
  const parsed = parseToolInput(tool, input);
  if (!parsed.ok) {
    return { text: parsed.error, isError: true };
  }
  // Whoever is asked has typed the command line; calls of agents are under a policy that asks nobody.
  return tool.invoke(parsed.value, { signal, owner: 'cordon exec', wasConfirmed: () => true });
}
