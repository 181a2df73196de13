import { randomUUID } from 'node:crypto';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import { policyHash } from '../../sandbox/policy/policyHash.ts';
import type { Denial } from '../../sandbox/denials/denial.ts';
import type { Judgement } from '../../sandbox/rules/judgeCommand.ts';
import type { PrefixRule } from '../../sandbox/rules/rule.ts';
import type { Answer } from '../approvals/approval.ts';
import type { JudgedCommand, JudgedPart, PreparedCommand } from '../orchestrator.ts';
import type { ExitStatus } from '../exec/execBackend.ts';
import type { Root } from '../roots.ts';
import type { Session } from '../sessions/session.ts';
import type { Audit } from './audit.ts';
import type { AuditEvent } from './auditEntry.ts';

type DecisionEvent = Extract<AuditEvent, { kind: 'decision' }>;

/** What the audit log keeps of one command: each decision about it, and its end, under one id. */
export class CommandAudit {
  readonly id: string;
  readonly #audit: Audit;
  readonly #commandLine: string;
  readonly #session: number | undefined;

  /** `session`: of the script that it is part of. */
  constructor(audit: Audit, commandLine: string, session?: number, id: string = randomUUID()) {
    this.id = id;
    this.#audit = audit;
    this.#commandLine = commandLine;
    this.#session = session;
  }

  /** Goes on with the entries that an earlier program began about a session. */
  static goOn(audit: Audit, { commandLine, record }: Session): CommandAudit {
    return new CommandAudit(audit, commandLine, undefined, record.audit);
  }

  /** What rules, lists and the approval policy made of it. */
  judged(judged: JudgedCommand): void {
    const { decision, policy } = judged;
    this.#audit.record({
      ...this.#about(judged, 'agent'),
      decision: decision.kind,
      by: deciderOf(judged),
      ...(decision.kind === 'ask' && { reason: decision.question.reason }),
      ...(decision.kind === 'refuse' && { reason: decision.message }),
      policy: policyHash(policy),
      sandbox: { mode: policy.mode, where: isUnsandboxed(policy) ? 'outside' : 'inside' },
    });
  }

  /** The same of a program of a script. */
  judgedPart(judged: JudgedPart): void {
    const { decision, policy } = judged;
    const leaves = decision.kind === 'outside';
    this.#audit.record({
      ...this.#about(judged, 'agent'),
      decision: decision.kind === 'ask' || decision.kind === 'refuse' ? decision.kind : 'run',
      by: decision.kind === 'ask' ? 'policy' : 'rule',
      ...(decision.kind === 'ask' && { reason: decision.question.reason }),
      ...(decision.kind === 'refuse' && { reason: decision.message }),
      policy: policyHash(policy),
      sandbox: { mode: policy.mode, where: leaves ? 'outside' : 'inside' },
    });
  }

  /** What was said to a question. */
  answered(judged: JudgedCommand | JudgedPart, answer: Answer): void {
    const { policy } = judged;
    const leaves = answer.kind === 'allow' && answer.widenings.some(({ kind }) => kind === 'unsandboxed');
    this.#audit.record({
      ...this.#about(judged, 'agent'),
      decision: answer.kind === 'allow' ? 'run' : 'refuse',
      by: answer.kind === 'deny' ? answer.by : 'person',
      ...(answer.kind === 'deny' && answer.comment !== undefined && { reason: answer.comment }),
      policy: policyHash(policy),
      sandbox: { mode: policy.mode, where: leaves || isUnsandboxed(policy) ? 'outside' : 'inside' },
    });
  }

  /** A person typed it: there was nothing to decide. */
  typed(prepared: PreparedCommand): void {
    const { policy } = prepared;
    this.#audit.record({
      ...this.#about(prepared, 'person'),
      decision: 'run',
      by: 'person',
      policy: policyHash(policy),
      sandbox: { mode: policy.mode, where: isUnsandboxed(policy) ? 'outside' : 'inside' },
    });
  }

  /** This program goes on with a session that an earlier one started. */
  takenOver({ id: session, cwd, root, policy }: Session): void {
    this.#audit.record({
      kind: 'takeover',
      id: this.id,
      command: this.#commandLine,
      cwd,
      ...where(root),
      session,
      policy: policyHash(policy),
    });
  }

  /** Records the end of its session, when that comes. */
  watch(session: Session): void {
    void session.closed.then(() => {
      const { state } = session;
      if (state.kind !== 'exited') {
        return;
      }
      this.#audit.record({
        kind: 'end',
        id: this.id,
        command: this.#commandLine,
        ...where(session.root),
        session: session.id,
        exitCode: state.exitCode,
        ...(state.failure !== undefined && { failure: state.failure }),
        ...(state.signal !== undefined && { signal: state.signal }),
        denials: session.denials().map(place),
        findings: session.findings.length,
        durationMs: state.durationMs,
      });
    });
  }

  /** A program of a script has ended; what stopped it stands in the output of the script. */
  ended(
    { root }: JudgedPart,
    { exit, findings, durationMs }: { exit: ExitStatus; findings: number; durationMs: number },
  ): void {
    this.#audit.record({
      kind: 'end',
      id: this.id,
      command: this.#commandLine,
      ...where(root),
      ...this.#ofSession(),
      exitCode: exit.exitCode,
      ...(exit.signal !== undefined && { signal: exit.signal }),
      denials: [],
      findings,
      durationMs,
    });
  }

  /** It could not be started. */
  failed(prepared: Pick<PreparedCommand, 'root'>, failure: string): void {
    this.#audit.record({
      kind: 'end',
      id: this.id,
      command: this.#commandLine,
      ...where(prepared.root),
      ...this.#ofSession(),
      failure,
      denials: [],
      findings: 0,
      durationMs: 0,
    });
  }

  #ofSession(): { readonly session?: number } {
    return this.#session === undefined ? {} : { session: this.#session };
  }

  #about(
    place: Pick<PreparedCommand, 'cwd' | 'root'> & Partial<Pick<JudgedCommand, 'judgement'>>,
    owner: DecisionEvent['owner'],
  ): Pick<
    DecisionEvent,
    'kind' | 'id' | 'command' | 'cwd' | 'root' | 'environment' | 'owner' | 'session' | 'judgement'
  > {
    const { judgement } = place;
    const rule = judgement && decidingRule(judgement);
    return {
      kind: 'decision',
      id: this.id,
      command: this.#commandLine,
      cwd: place.cwd,
      ...where(place.root),
      owner,
      ...this.#ofSession(),
      ...(judgement !== undefined && {
        judgement: {
          class: judgement.class,
          ...(judgement.decision !== undefined && { decision: judgement.decision }),
          ...(rule !== undefined && { place: rule.origin.place }),
        },
      }),
    };
  }
}

function where({ path, environment }: Root): Pick<DecisionEvent, 'root' | 'environment'> {
  return { root: path, ...(environment !== undefined && { environment }) };
}

function deciderOf({ decision, judgement }: JudgedCommand): DecisionEvent['by'] {
  if (decision.kind === 'ask') {
    return 'policy';
  }
  const isGranted = decision.by === 'rule' && decidingRule(judgement)?.origin.source === 'grant';
  return isGranted ? 'grant' : decision.by;
}

function decidingRule({ matches, decision }: Judgement): PrefixRule | undefined {
  return matches.find(({ rule }) => rule.decision === decision)?.rule;
}

function place({ clause, path, host }: Denial) {
  return {
    ...(clause !== undefined && { clause }),
    ...(path !== undefined && { path }),
    ...(host !== undefined && { host }),
  };
}
