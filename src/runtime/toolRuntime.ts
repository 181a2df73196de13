import type { Result } from '../base/result.ts';
import { ok } from '../base/result.ts';
import type { Log } from '../base/log.ts';
import type { AccessUnder } from '../patch/accessUnder.ts';
import { createAccessUnder } from '../patch/accessUnder.ts';
import { createDiskPatchHost } from '../patch/diskPatchHost.ts';
import { createBashParser } from '../sandbox/commands/bashParser.ts';
import type { PatchHost } from '../patch/patchHost.ts';
import type { ReviewPlace } from '../patch/review/planAnew.ts';
import type { SandboxManager } from '../sandbox/sandboxManager.ts';
import type { TerminalSize } from '../terminal/childHandle.ts';
import { nodeMachine } from '../sandbox/policy/nodeMachine.ts';
import type { Widening } from '../sandbox/policy/widening.ts';
import type { Approvals } from './approvals/approvals.ts';
import { Consent } from './approvals/consent.ts';
import type { Audit } from './audit/audit.ts';
import { CommandRunner } from './commandRunner.ts';
import { DenialLog } from './denials/denialLog.ts';
import { DenialWatch } from './denials/denialWatch.ts';
import type { ExecBackend } from './exec/execBackend.ts';
import { createLocalBackend } from './exec/localBackend.ts';
import { localMachine } from './machines/localMachine.ts';
import type { MachinesOptions } from './machines/machines.ts';
import { createMachines } from './machines/machines.ts';
import { Orchestrator } from './orchestrator.ts';
import type { RefusedCommand } from './places.ts';
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
  /** The questions that wait for a person. */
  readonly approvals: Approvals;
  readonly audit: Audit;
  /** The environment that children inherit from, before the policy's rules. */
  readonly parentEnv: NodeJS.ProcessEnv;
  /** What patches may write under a policy; everything that commands may, by default. */
  readonly accessUnder?: AccessUnder;
  /** Applies patches, and lets a person review them; on the disk and without reviews by default. */
  readonly patchHost?: PatchHost;
  /** Programs that every command finds first: `dist/bin`. */
  readonly helperFolder?: string;
  /** The other machines that run commands, and what is known of the policies there. */
  readonly remote?: MachinesOptions['remote'];
  /** What runs the commands; this process by default. */
  readonly backend?: ExecBackend;
}

export interface PersonRequest {
  readonly root: Root;
  readonly commandLine: string;
  readonly cwd: string;
  readonly size?: TerminalSize;
  /** What the person lets this command do beyond the policy. */
  readonly widenings?: readonly Widening[];
}

/** Everything an agent or a person can ask of Cordon, wired together. */
export interface ToolRuntime {
  readonly tools: readonly Tool[];
  readonly sessions: SessionManager;
  readonly sleeps: Sleeps;
  readonly denials: DenialLog;
  /** Runs a command line that a person typed, in a terminal, under the root's policy. */
  runForPerson(request: PersonRequest): Promise<Result<Session, RefusedCommand>>;
  /** A command will soon run in the root. */
  prewarm(root: Root): void;
  /** Has the machine that runs the root's commands say what they may do, for those who show it. */
  askPolicy(root: Root): Promise<void>;
  /** Where patches of a root are applied, and under which policy, now. */
  patchPlaceOf(root: Root): Promise<Result<ReviewPlace, RefusedCommand>>;
  /** Takes over the sessions that an earlier program left behind; the tools wait for it. */
  restore(): Promise<readonly Session[]>;
  /** Ends every session that nobody can take over, with everything it started. */
  dispose(): Promise<void>;
}

/** Builds a runtime; whoever composes it says where policies, answers and the audit log come from and go. */
export function createToolRuntime({
  roots,
  sandbox,
  log,
  approvals,
  audit,
  parentEnv,
  accessUnder = createAccessUnder(),
  patchHost = createDiskPatchHost(accessUnder),
  helperFolder,
  remote,
  backend = createLocalBackend(sandbox),
}: ToolRuntimeOptions): ToolRuntime {
  const parseScript = createBashParser();
  const machine = nodeMachine();
  const machineOf = createMachines({
    roots,
    local: localMachine({ roots, parentEnv, helperFolder }),
    remote,
  });
  const orchestrator = new Orchestrator({ roots, machineOf, parentEnv, parseScript });
  const sessions = new SessionManager(backend);
  const denials = new DenialLog();
  const runner = new CommandRunner({
    roots,
    orchestrator,
    sessions,
    consent: new Consent(approvals),
    denials: new DenialWatch(roots, denials, machine),
    audit,
    backend,
  });
  const sleeps = new Sleeps();
  const patches = new PatchRunner({ host: patchHost, roots, log, accessUnder });
  const tools = [
    createExecCommandTool({ orchestrator, runner, sessions, patches, parseScript }),
    createWriteStdinTool({ sessions, roots, approvals }),
    createListSessionsTool(sessions),
    createKillSessionTool(sessions),
    createApplyPatchTool(orchestrator, patches),
    createSleepTool(sleeps),
  ] as readonly Tool[];

  return {
    tools,
    sessions,
    sleeps,
    denials,
    runForPerson({ commandLine, cwd, size = agentTerminalSize, widenings = [] }) {
      const request = { cmd: commandLine, workdir: cwd, login: true, isTty: true };
      return runner.startForPerson(request, { widenings, tty: size });
    },
    prewarm: (root) => runner.prewarm(root),
    async askPolicy(root) {
      const found = await machineOf(root);
      if (found.ok) {
        await found.value.policyFor(root, []);
      }
    },
    async patchPlaceOf(root) {
      const found = await machineOf(root);
      if (!found.ok) {
        return found;
      }
      const policy = await found.value.policyFor(root, []);
      return policy.ok ? ok({ policy: policy.value, site: found.value.patchSite?.(root) }) : policy;
    },
    restore: () => runner.restore(),
    async dispose() {
      sleeps.interruptAll();
      await sessions.dispose();
      denials.dispose();
    },
  };
}
