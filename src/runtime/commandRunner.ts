import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import type { Widening } from '../sandbox/policy/widening.ts';
import type { TerminalSize } from '../terminal/childHandle.ts';
import { adviceOn } from './approvals/advice.ts';
import type { Answer, Denied } from './approvals/approval.ts';
import type { ApprovalPolicy } from './approvals/approvalPolicy.ts';
import type { Consent } from './approvals/consent.ts';
import type { PermissionInput } from './approvals/permissions.ts';
import { refusalFor } from './approvals/refusals.ts';
import type { Audit } from './audit/audit.ts';
import { CommandAudit } from './audit/commandAudit.ts';
import { ScriptParts } from './children/scriptParts.ts';
import type { DenialWatch } from './denials/denialWatch.ts';
import { localName } from './environments/environment.ts';
import type { ExecBackend } from './exec/execBackend.ts';
import type { CommandRequest, JudgedCommand, Orchestrator, PreparedCommand } from './orchestrator.ts';
import type { RefusedCommand } from './places.ts';
import type { Root, Roots } from './roots.ts';
import type { Session } from './sessions/session.ts';
import type { SessionManager, SessionRequest } from './sessions/sessionManager.ts';
import type { Confirmation, ToolContext } from './tools/tool.ts';

export interface CommandRunnerOptions {
  readonly roots: Roots;
  readonly orchestrator: Orchestrator;
  readonly sessions: SessionManager;
  readonly consent: Consent;
  readonly denials: DenialWatch;
  readonly audit: Audit;
  readonly backend: ExecBackend;
}

/** A command of an agent with what it asks for. */
export interface AgentCommand {
  readonly request: CommandRequest;
  readonly permissions: PermissionInput;
  /** The terminal that it gets; pipes without. */
  readonly tty?: TerminalSize;
}

/** A command that was started, and what is needed to ask about it again. */
export interface RunningCommand {
  readonly session: Session;
  readonly command: AgentCommand;
  readonly judged: JudgedCommand;
  /** What it may do beyond the policy. */
  readonly widenings: readonly Widening[];
}

/** Another run of a command that was stopped, which the person allowed. */
export interface Again {
  readonly kind: 'again';
  readonly running: RunningCommand;
}

/**
 * Takes a command from the decision to a session, and asks where somebody has to be asked: before it runs, and after
 * the sandbox stopped it.
 */
export class CommandRunner {
  readonly #options: CommandRunnerOptions;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  /** A command will soon run in the root. */
  prewarm(root: Root): void {
    this.#options.backend.prewarm?.(root.environment ?? localName);
  }

  /** The question that the caller's own card can put to the person; undefined when the command needs no answer. */
  async confirmation({ request, permissions }: AgentCommand): Promise<Confirmation | undefined> {
    const judged = await this.#options.orchestrator.judge(request, permissions);
    if (judged.ok && judged.value.decision.kind !== 'refuse') {
      this.prewarm(judged.value.root);
    }
    return judged.ok && judged.value.decision.kind === 'ask'
      ? this.#options.consent.confirmation(judged.value, judged.value.decision.question)
      : undefined;
  }

  /** Runs an agent's command as it is decided; asks first where that is decided. */
  async start(command: AgentCommand, context: ToolContext): Promise<Result<RunningCommand, RefusedCommand>> {
    const { orchestrator, audit } = this.#options;
    const judged = await orchestrator.judge(command.request, command.permissions);
    if (!judged.ok) {
      return judged;
    }
    const entry = new CommandAudit(audit, command.request.cmd);
    entry.judged(judged.value);
    const widenings = await this.#allowed(judged.value, entry, context);
    if (!widenings.ok) {
      return widenings;
    }
    const now =
      judged.value.decision.kind === 'ask' ? await this.#judgedAgain(command, judged.value) : judged;
    if (now === undefined) {
      // The answer was for another command than this one is by now.
      entry.failed(judged.value, changedMeanwhile);
      return this.start(command, context);
    }
    if (!now.ok) {
      entry.failed(judged.value, now.error.message);
      return now;
    }
    const prepared = await orchestrator.prepareJudged(now.value, widenings.value);
    if (!prepared.ok) {
      entry.failed(judged.value, prepared.error.message);
      return prepared;
    }
    if (isUnsandboxed(prepared.value.policy) && !expectsNoSandbox(judged.value, widenings.value)) {
      // The decision was made for a confined command.
      entry.failed(judged.value, changedMeanwhile);
      return this.start(command, context);
    }
    const session = await this.#open(
      prepared.value,
      agentSession(command, judged.value, this.#options.denials),
      entry,
      { judged: judged.value, owner: context.owner },
    );
    return session.ok
      ? ok({ session: session.value, command, judged: judged.value, widenings: widenings.value })
      : session;
  }

  /**
   * After the sandbox stopped a command: asks whether it may run again with what it lacked, and runs it. Undefined
   * when nobody is to be asked, or nothing would help.
   */
  async retry(running: RunningCommand, context: ToolContext): Promise<Again | Denied | undefined> {
    const { session, command, judged } = running;
    const { orchestrator, consent, denials, audit } = this.#options;
    const denial = session.denial();
    if (denial === undefined || !asksAfterDenials(judged) || context.signal.aborted) {
      return undefined;
    }
    const fixes = denials.fixesFor(denial, session.policy, session.root);
    const mayLeave = denials.mayLeave(session.root);
    if (fixes.length === 0 && !mayLeave) {
      return undefined;
    }
    const entry = new CommandAudit(audit, command.request.cmd);
    const answer = await consent.after(judged, denial, { fixes, mayLeave }, context);
    entry.answered(judged, answer);
    if (answer.kind === 'deny') {
      return answer;
    }
    const now = await this.#judgedAgain(command, judged);
    const leaves = answer.widenings.some(({ kind }) => kind === 'unsandboxed');
    if (now?.ok !== true || (leaves && !denials.mayLeave(now.value.root))) {
      entry.failed(judged, changedMeanwhile);
      return undefined;
    }
    const widenings = [...running.widenings, ...answer.widenings];
    const prepared = await orchestrator.prepareJudged(now.value, widenings);
    if (!prepared.ok) {
      entry.failed(judged, prepared.error.message);
      return undefined;
    }
    if (isUnsandboxed(prepared.value.policy) && !expectsNoSandbox(judged, widenings)) {
      entry.failed(judged, changedMeanwhile);
      return undefined;
    }
    const opened = await this.#open(prepared.value, agentSession(command, judged, denials), entry, {
      judged,
      owner: context.owner,
    });
    return opened.ok
      ? { kind: 'again', running: { ...running, session: opened.value, widenings } }
      : undefined;
  }

  /** Runs what a person typed, under the policy of its folder and what the person adds to it for this once. */
  async startForPerson(
    request: CommandRequest,
    { widenings, tty }: { readonly widenings: readonly Widening[]; readonly tty: TerminalSize },
  ): Promise<Result<Session, RefusedCommand>> {
    const prepared = await this.#options.orchestrator.prepare(request, widenings);
    if (!prepared.ok) {
      return prepared;
    }
    const entry = new CommandAudit(this.#options.audit, request.cmd);
    entry.typed(prepared.value);
    return this.#open(prepared.value, { commandLine: request.cmd, owner: 'person', tty }, entry);
  }

  /** Takes over the sessions that an earlier program left behind, with the eyes that were on them. */
  async restore(): Promise<readonly Session[]> {
    const { sessions, audit, denials, roots } = this.#options;
    const restored = await sessions.restore(({ owner, root }) => {
      const approval = roots.approvalPolicyFor(root);
      // A person needs no advice, and a folder that was closed has no approval policy.
      return owner === 'agent' && approval.ok ? adviserOf(approval.value, root, denials) : undefined;
    });
    for (const session of restored) {
      denials.watch(session);
      if (session.record.ended === undefined) {
        const entry = CommandAudit.goOn(audit, session);
        entry.takenOver(session);
        entry.watch(session);
      }
    }
    return restored;
  }

  /** A command as it is after an answer, for which time has passed; undefined when the answer is not for that. */
  async #judgedAgain(
    { request, permissions }: AgentCommand,
    asked: JudgedCommand,
  ): Promise<Result<JudgedCommand, RefusedCommand> | undefined> {
    const now = await this.#options.orchestrator.judge(request, permissions);
    return !now.ok || isAnswered(asked, now.value) ? now : undefined;
  }

  /** What the command may do beyond its policy, when it may run. */
  async #allowed(
    judged: JudgedCommand,
    entry: CommandAudit,
    context: ToolContext,
  ): Promise<Result<readonly Widening[], RefusedCommand>> {
    const { decision } = judged;
    switch (decision.kind) {
      case 'run':
        return ok(decision.widenings);
      case 'refuse':
        return fail(decision);
      case 'ask': {
        const answer: Answer = await this.#options.consent.before(judged, decision.question, context);
        entry.answered(judged, answer);
        return answer.kind === 'allow' ? ok(answer.widenings) : fail(refusalFor(answer, decision.question));
      }
    }
  }

  async #open(
    prepared: PreparedCommand,
    session: Pick<SessionRequest, 'commandLine' | 'owner' | 'tty' | 'adviseOn'>,
    entry: CommandAudit,
    asker?: { readonly judged: JudgedCommand; readonly owner: string },
  ): Promise<Result<Session, RefusedCommand>> {
    const { sessions, denials } = this.#options;
    const parts = asker && this.#partsOf(prepared, asker.judged);
    const started = await sessions.start({
      ...prepared,
      ...session,
      ...(prepared.root.environment !== undefined && { environment: prepared.root.environment }),
      audit: entry.id,
      ...(parts && { door: parts.door }),
    });
    if (!started.ok) {
      entry.failed(prepared, started.error.message);
      return started;
    }
    if (asker !== undefined && parts !== undefined) {
      const { commandLine, id } = started.value;
      const agreed = asker.judged.judgement.matches
        .filter(({ rule }) => rule.decision === 'prompt')
        .map(({ words }) => words);
      parts.begin({ ...prepared, commandLine, session: id, owner: asker.owner, agreed });
    }
    entry.watch(started.value);
    denials.watch(started.value);
    return started;
  }

  #partsOf(
    { policy }: PreparedCommand,
    { askedPrograms: programs, restrictedPrograms: restricted }: JudgedCommand,
  ): ScriptParts | undefined {
    return programs.length === 0 || isUnsandboxed(policy)
      ? undefined
      : new ScriptParts({ programs, restricted }, this.#options);
  }
}

const changedMeanwhile = 'the folder, its rules or its policy are others than those that were decided about.';

function agentSession(
  { request, tty }: AgentCommand,
  { approval, root }: JudgedCommand,
  denials: DenialWatch,
): Pick<SessionRequest, 'commandLine' | 'owner' | 'tty' | 'adviseOn'> {
  return {
    commandLine: request.cmd,
    owner: 'agent',
    ...(tty !== undefined && { tty }),
    adviseOn: adviserOf(approval, root, denials),
  };
}

function adviserOf(
  approval: ApprovalPolicy,
  root: Root,
  denials: DenialWatch,
): NonNullable<SessionRequest['adviseOn']> {
  return (denial, policy) => adviceOn(denials.fixesFor(denial, policy, root), approval);
}

/** Whether the policy of approvals wants a question when the sandbox has stopped something. */
function asksAfterDenials({ approval }: JudgedCommand): boolean {
  return (approval.mode === 'on-failure' || approval.mode === 'granular') && approval.asks.sandbox;
}

function expectsNoSandbox({ policy }: JudgedCommand, widenings: readonly Widening[]): boolean {
  return isUnsandboxed(policy) || widenings.some(({ kind }) => kind === 'unsandboxed');
}

/** Whether a yes to a command as it was is one to it as it is: in the same place, with nothing stricter said since. */
function isAnswered(asked: JudgedCommand, now: JudgedCommand): boolean {
  const isSame =
    asked.root.path === now.root.path &&
    asked.root.environment === now.root.environment &&
    asked.cwd === now.cwd &&
    asked.shell === now.shell;
  const isStricter = now.judgement.decision === 'prompt' && asked.judgement.decision !== 'prompt';
  return isSame && !isStricter && now.decision.kind !== 'refuse';
}
