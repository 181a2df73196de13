import type { Result } from '../base/result.ts';
import { fail } from '../base/result.ts';
import type { Log } from '../base/log.ts';
import type { AccessUnder } from '../patch/accessUnder.ts';
import { createAccessUnder } from '../patch/accessUnder.ts';
import { createDiskPatchHost } from '../patch/diskPatchHost.ts';
import { createBashParser } from '../sandbox/commands/bashParser.ts';
import type { PatchHost } from '../patch/patchHost.ts';
import type { SandboxManager } from '../sandbox/sandboxManager.ts';
import type { TerminalSize } from '../terminal/childHandle.ts';
import { createLocalBackend } from './exec/localBackend.ts';
import type { RefusedCommand } from './orchestrator.ts';
import { Orchestrator } from './orchestrator.ts';
import { PatchRunner } from './patches/patchRunner.ts';
import type { Root, Roots } from './roots.ts';
import type { Session } from './sessions/session.ts';
import { SessionManager } from './sessions/sessionManager.ts';
import { createApplyPatchTool } from './tools/applyPatch.ts';
import { createExecCommandTool } from './tools/execCommand.ts';
import { createKillSessionTool } from './tools/killSession.ts';
import { agentTerminalSize } from './tools/limits.ts';
import { createListSessionsTool } from './tools/listSessions.ts';
import { createSleepTool, Sleeps } from './tools/sleep.ts';
import type { Tool } from './tools/tool.ts';
import { createWriteStdinTool } from './tools/writeStdin.ts';

export interface ToolRuntimeOptions {
  readonly roots: Roots;
  readonly sandbox: SandboxManager;
  readonly log: Log;
  /** The environment that children inherit from, before the policy's rules. */
  readonly parentEnv: NodeJS.ProcessEnv;
  /** What patches may write under a policy; everything that commands may, by default. */
  readonly accessUnder?: AccessUnder;
  /** Applies patches, and lets a person review them; on the disk and without reviews by default. */
  readonly patchHost?: PatchHost;
  /** Programs that every command finds first: `dist/bin`. */
  readonly helperFolder?: string;
}

export interface PersonRequest {
  readonly root: Root;
  readonly commandLine: string;
  readonly cwd: string;
  readonly size?: TerminalSize;
}

/** Everything an agent or a person can ask of Cordon, wired together. */
export interface ToolRuntime {
  readonly tools: readonly Tool[];
  readonly sessions: SessionManager;
  readonly sleeps: Sleeps;
  /** Runs a command line that a person typed, in a terminal, under the root's policy. */
  runForPerson(request: PersonRequest): Promise<Result<Session, RefusedCommand>>;
  /** Ends every session with everything it started. */
  dispose(): Promise<void>;
}

export function createToolRuntime({
  roots,
  sandbox,
  log,
  parentEnv,
  accessUnder = createAccessUnder(),
  patchHost = createDiskPatchHost(accessUnder),
  helperFolder,
}: ToolRuntimeOptions): ToolRuntime {
  const parseScript = createBashParser();
  const orchestrator = new Orchestrator({ roots, parentEnv, parseScript, helperFolder });
  const sessions = new SessionManager(createLocalBackend(sandbox));
  const sleeps = new Sleeps();
  const patches = new PatchRunner({ host: patchHost, roots, log, accessUnder });
  const tools = [
    createExecCommandTool({ orchestrator, sessions, patches, parseScript }),
    createWriteStdinTool(sessions),
    createListSessionsTool(sessions),
    createKillSessionTool(sessions),
    createApplyPatchTool(orchestrator, patches),
    createSleepTool(sleeps),
  ] as readonly Tool[];

  return {
    tools,
    sessions,
    sleeps,
    async runForPerson({ commandLine, cwd, size = agentTerminalSize }) {
      const prepared = await orchestrator.prepare({
        cmd: commandLine,
        workdir: cwd,
        login: true,
        isTty: true,
      });
      if (!prepared.ok) {
        return fail(prepared.error);
      }
      const { policy } = prepared.value;
      log.debug(`run for a person: mode ${policy.mode} (${policy.sources.mode}), network ${policy.network}`);
      return sessions.start({ ...prepared.value, commandLine, owner: 'person', tty: size });
    },
    async dispose() {
      sleeps.interruptAll();
      await sessions.dispose();
    },
  };
}
