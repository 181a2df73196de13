import { resolve } from 'node:path';
import * as z from 'zod';
import type { BashParser } from '../../sandbox/commands/bashParser.ts';
import { implicitPatchMessage, recognizePatchCommand } from '../../patch/invocation/recognizePatchCommand.ts';
import type { Denied } from '../approvals/approval.ts';
import { permissionFields } from '../approvals/permissions.ts';
import { refusalAfter } from '../approvals/refusals.ts';
import type { AgentCommand, CommandRunner } from '../commandRunner.ts';
import type { Orchestrator } from '../orchestrator.ts';
import type { PatchRunner } from '../patches/patchRunner.ts';
import { waitForYield } from '../sessions/answer.ts';
import type { Session } from '../sessions/session.ts';
import { outputForms } from '../sessions/session.ts';
import type { SessionManager } from '../sessions/sessionManager.ts';
import { abortedResult, answerResult } from './answerResult.ts';
import { agentTerminalSize, clampYield, outputTokens } from './limits.ts';
import type { Tool, ToolResult } from './tool.ts';
import { toolError } from './tool.ts';

/** Linux passes no single argument longer than 128 KiB; the shell gets the command as one, with a search path in front. */
const maxCommandBytes = 120 * 1024;

export const execCommandSchema = z.object({
  cmd: z
    .string()
    .min(1, 'must not be empty')
    .refine((cmd) => !cmd.includes('\0'), 'must not contain NUL characters')
    .refine(
      (cmd) => Buffer.byteLength(cmd) <= maxCommandBytes,
      'is longer than 120 KiB: put the script into a file and run that',
    )
    .describe('Shell command to run.'),
  workdir: z
    .string()
    .optional()
    .describe(
      'Folder to run in: the name of an open workspace folder, an absolute path, or a path relative to the active one. Defaults to the active workspace folder.',
    ),
  shell: z.string().optional().describe("Absolute path of the shell to use. Defaults to the person's own."),
  login: z.boolean().default(true).describe('Run the shell as a login shell (-lc instead of -c).'),
  tty: z
    .boolean()
    .default(false)
    .describe(
      'Give the command a terminal. Needed for prompts, REPLs and full-screen programs; without it stdin is closed.',
    ),
  yield_time_ms: z
    .number()
    .default(10_000)
    .describe(
      'How long to wait for the end before answering with the output so far, in milliseconds (250 to 30000).',
    ),
  max_output_tokens: outputTokens,
  output: z
    .enum(outputForms)
    .optional()
    .describe(
      'screen: the text a person would see, progress bars settled (default with a tty). stream: the raw output (default without).',
    ),
  ...permissionFields,
});
export type ExecCommandInput = z.infer<typeof execCommandSchema>;

export interface ExecCommandOptions {
  readonly orchestrator: Orchestrator;
  readonly runner: CommandRunner;
  readonly sessions: SessionManager;
  readonly patches: PatchRunner;
  readonly parseScript: BashParser;
}

/**
 * Runs a shell command; answers with the finished result, or with a session that goes on. A command that is nothing
 * but a patch call goes to the patch engine, and no shell runs.
 */
export function createExecCommandTool({
  orchestrator,
  runner,
  sessions,
  patches,
  parseScript,
}: ExecCommandOptions): Tool<ExecCommandInput> {
  return {
    name: 'exec_command',
    inputSchema: execCommandSchema,
    invocationMessage: ({ cmd }) => `Running ${cmd}`,

    async confirmation(input) {
      // What needs a person's yes of a patch is reviewed as a diff.
      return (await readPatchCommand(input.cmd)).kind === 'none'
        ? runner.confirmation(commandOf(input))
        : undefined;
    },

    async invoke(input, context): Promise<ToolResult> {
      const startedAt = performance.now();
      const patched = await runAsPatch(input, context.signal);
      if (patched !== undefined) {
        return patched;
      }
      const started = await runner.start(commandOf(input), context);
      if (!started.ok) {
        return toolError('exec_command', started.error);
      }
      const request = {
        yieldMs: clampYield(input.yield_time_ms),
        maxTokens: input.max_output_tokens,
        form: input.output ?? (input.tty ? 'screen' : 'stream'),
        signal: context.signal,
      } as const;
      const answer = async (session: Session): Promise<ToolResult> => {
        await waitForYield(session, request);
        if (context.signal.aborted) {
          await session.terminate();
          return abortedResult(session, performance.now() - startedAt);
        }
        return answerResult(sessions, session, request, performance.now() - startedAt);
      };
      let running = started.value;
      let result = await answer(running.session);
      // Each question is about what stopped the last run, so a command can need several.
      for (;;) {
        const next = await runner.retry(running, context);
        if (next?.kind !== 'again') {
          return next === undefined ? result : withRefusal(result, next);
        }
        result = afterDenial(await answer(next.running.session), running.session);
        running = next.running;
      }
    },
  };

  function readPatchCommand(cmd: string): ReturnType<typeof recognizePatchCommand> {
    // The reference runs a shell that it does not know as sh, so the shell does not matter.
    return recognizePatchCommand(['sh', '-c', cmd], parseScript);
  }

  async function runAsPatch(
    { cmd, workdir }: ExecCommandInput,
    signal: AbortSignal,
  ): Promise<ToolResult | undefined> {
    const command = await readPatchCommand(cmd);
    switch (command.kind) {
      case 'none':
        return undefined;
      case 'implicit':
        return { text: `apply_patch verification failed: ${implicitPatchMessage}`, isError: true };
      case 'patch': {
        const place = await orchestrator.locate(workdir);
        if (!place.ok) {
          return toolError('exec_command', place.error);
        }
        const cwd = resolve(place.value.cwd, command.workdir ?? '');
        const result = await patches.run({ text: command.text, place: place.value, cwd, signal });
        return result.isError ? result : { ...result, text: `${interceptedHeader}${result.text}` };
      }
    }
  }
}

function commandOf(input: ExecCommandInput): AgentCommand {
  const { cmd, workdir, shell, login, tty, ...permissions } = input;
  return {
    request: { cmd, workdir, shell, login, isTty: tty },
    permissions,
    ...(tty && { tty: agentTerminalSize }),
  };
}

/** The answer of another run, with why there was one. */
function afterDenial(result: ToolResult, stopped: Session): ToolResult {
  const reason = stopped.denial()?.message ?? '';
  return { ...result, text: `An earlier run was stopped: ${reason} The person allowed it.\n${result.text}` };
}

/** The answer of a run that was stopped, with what the person said to another one. */
function withRefusal(result: ToolResult, denied: Denied): ToolResult {
  const words = refusalAfter(denied);
  return words === undefined ? result : { ...result, text: `${words}\n${result.text}` };
}

/** What the reference puts in front of the answer when no shell had to run. */
const interceptedHeader = 'Wall time: 0.0000 seconds\nOutput:\n';
