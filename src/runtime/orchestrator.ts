import { isDeepStrictEqual } from 'node:util';
import type { Result } from '../base/result.ts';
import { ok } from '../base/result.ts';
import type { BashParser } from '../sandbox/commands/bashParser.ts';
import { readShellCommand } from '../sandbox/commands/commandLine.ts';
import { runsGit } from '../sandbox/commands/runsGit.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import type { Widening } from '../sandbox/policy/widening.ts';
import { whyConfined } from '../sandbox/policy/widening.ts';
import { partsInside } from '../sandbox/linux/bubblewrap/machine.ts';
import { askedPrograms, restrictedPrograms } from '../sandbox/rules/askedPrograms.ts';
import type { Judgement } from '../sandbox/rules/judgeCommand.ts';
import { judgeCommand, judgeRead } from '../sandbox/rules/judgeCommand.ts';
import type { ApprovalPolicy } from './approvals/approvalPolicy.ts';
import type { Decision } from './approvals/decide.ts';
import type { PartDecision, Ways } from './approvals/decidePart.ts';
import { decidePart } from './approvals/decidePart.ts';
import { decide } from './approvals/decide.ts';
import { isGivable, mayLeaveSandbox } from './approvals/givable.ts';
import type { PermissionInput, RequestedPermissions } from './approvals/permissions.ts';
import { readPermissions } from './approvals/permissions.ts';
import type { Surroundings } from './children/ground.ts';
import { namedPaths } from './children/namedPaths.ts';
import type { PartQuestion } from './children/partFrames.ts';
import type { RunningScript } from './children/runningScript.ts';
import { environmentUnder } from './environmentUnder.ts';
import type { MachineOf } from './machines/machine.ts';
import type { Place, RefusedCommand } from './places.ts';
import { locatePlace } from './places.ts';
import type { Roots } from './roots.ts';
import { withSearchPath } from './searchPath.ts';

export interface CommandRequest {
  readonly cmd: string;
  /** Name of a root, absolute path, or path relative to the active root. */
  readonly workdir?: string | undefined;
  /** Absolute path of a shell; the person's own by default. */
  readonly shell?: string | undefined;
  readonly login: boolean;
  readonly isTty: boolean;
}

/** A command of an agent, understood and decided about; nothing runs yet. */
export interface JudgedCommand extends Place {
  readonly request: CommandRequest;
  readonly shell: string;
  readonly requested: RequestedPermissions;
  readonly judgement: Judgement;
  readonly approval: ApprovalPolicy;
  readonly decision: Decision;
  /** Programs that are asked about one by one when they run inside of it. */
  readonly askedPrograms: readonly string[];
  /** Those of them that must not run unasked. */
  readonly restrictedPrograms: readonly string[];
}

/** A command with everything decided: where, under which policy, with which environment. */
export interface PreparedCommand extends Place {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What the machine lets through of its own environment comes below. */
  readonly inheritsEnvironment?: boolean;
  /** What it may do beyond the policy of its root. */
  readonly widenings: readonly Widening[];
}

/** What a command gets beyond what the policy of its root says. */
export interface Additions {
  readonly widenings?: readonly Widening[];
  /** Programs that are asked about before they run in it. */
  readonly askedPrograms?: readonly string[];
}

/** A program of a script that wants to run, understood and decided about. */
export interface JudgedPart extends Place {
  readonly argv: readonly string[];
  /** The command line that it is part of. */
  readonly script: string;
  readonly judgement: Judgement;
  readonly decision: PartDecision;
}

export interface OrchestratorOptions {
  readonly roots: Roots;
  readonly machineOf: MachineOf;
  /** The environment of programs that run apart from their script, before the policy's rules. */
  readonly parentEnv: NodeJS.ProcessEnv;
  readonly parseScript: BashParser;
}

/** Decides whether, where and under which policy commands run: once per command, here and nowhere else. */
export class Orchestrator {
  readonly #options: OrchestratorOptions;

  constructor(options: OrchestratorOptions) {
    this.#options = options;
  }

  /** The folder, root and policy that a workdir stands for. */
  locate(workdir: string | undefined): Promise<Result<Place, RefusedCommand>> {
    return locatePlace(this.#options.roots, this.#options.machineOf, workdir);
  }

  /** Judges an agent's command by rules, lists and the approval policy of its root. */
  async judge(
    request: CommandRequest,
    permissions: PermissionInput,
  ): Promise<Result<JudgedCommand, RefusedCommand>> {
    const { roots, parseScript } = this.#options;
    const place = await this.locate(request.workdir);
    if (!place.ok) return place;
    const { root, cwd, policy, machine } = place.value;
    const shell = await machine.shellFor(request.shell);
    const approval = roots.approvalPolicyFor(root);
    const requested = readPermissions(permissions, { cwd, machine: machine.paths });
    if (!shell.ok) return shell;
    if (!approval.ok) return approval;
    if (!requested.ok) return requested;
    const rules = await roots.rulesFor(root);
    const read = await readShellCommand(shell.value, request.cmd, parseScript);
    const judgement = judgeRead(read, rules, requested.value.prefix);
    return ok({
      ...place.value,
      request,
      shell: shell.value,
      requested: requested.value,
      judgement,
      approval: approval.value,
      askedPrograms: isUnsandboxed(policy) ? [] : askedPrograms(rules),
      restrictedPrograms: restrictedPrograms(rules),
      decision: decide({
        judgement,
        requested: requested.value,
        approval: approval.value,
        policy,
        root,
      }),
    });
  }

  /** Prepares what a person typed, under the policy of now with what it may do beyond that. */
  async prepare(
    request: CommandRequest,
    widenings: readonly Widening[],
  ): Promise<Result<PreparedCommand, RefusedCommand>> {
    const place = await this.locate(request.workdir);
    if (!place.ok) return place;
    const { root, machine } = place.value;
    const shell = await machine.shellFor(request.shell);
    if (!shell.ok) return shell;
    const policy = widenings.length === 0 ? ok(place.value.policy) : await machine.policyFor(root, widenings);
    return policy.ok
      ? ok(
          await this.#prepared({ ...place.value, policy: policy.value }, shell.value, request, { widenings }),
        )
      : policy;
  }

  /** Prepares a command as it was judged just now: in the place that was judged, with what it may do beyond that. */
  async prepareJudged(
    judged: JudgedCommand,
    widenings: readonly Widening[],
  ): Promise<Result<PreparedCommand, RefusedCommand>> {
    const { root, machine, shell, request, askedPrograms } = judged;
    const policy = widenings.length === 0 ? ok(judged.policy) : await machine.policyFor(root, widenings);
    return policy.ok
      ? ok(
          await this.#prepared({ ...judged, policy: policy.value }, shell, request, {
            widenings,
            askedPrograms,
          }),
        )
      : policy;
  }

  /** Judges a program of a running script by the rules of the script's root, on its words as one command. */
  async judgePart(
    part: PartQuestion,
    script: RunningScript,
    obstacleTo: (around: Pick<Surroundings, 'roots' | 'searchPath'>) => Promise<string | undefined>,
  ): Promise<Result<JudgedPart, RefusedCommand>> {
    const { roots, parseScript, parentEnv } = this.#options;
    const { root, machine, policy } = script;
    const { argv, cwd } = part;
    const approval = roots.approvalPolicyFor(root);
    if (!approval.ok) return approval;
    const judgement = await judgeCommand(argv, await roots.rulesFor(root), parseScript);
    const isAgreed =
      judgement.decision === 'prompt' && script.agreed.some((words) => isDeepStrictEqual(words, argv));
    if (judgement.decision === undefined || isAgreed) {
      return ok({
        ...script,
        argv,
        cwd,
        script: script.commandLine,
        judgement,
        decision: { kind: 'inside' },
      });
    }
    const obstacle =
      machine.keepsPartsInside ??
      (await obstacleTo({
        roots: roots.list().map(({ path }) => path),
        searchPath: parentEnv['PATH'] ?? '',
      }));
    const decision = decidePart(
      { judgement, approval: approval.value, policy, root },
      obstacle === undefined ? this.#waysFor(part, script) : { widenings: [], mayLeave: false, obstacle },
    );
    return ok({ argv, cwd, root, machine, policy, script: script.commandLine, judgement, decision });
  }

  /**
   * The policy and environment of a program that runs apart from its script, with what was allowed on top of what the
   * script has; nothing of the environment is the script's.
   */
  async preparePart(
    { argv, isTerminal }: Pick<PartQuestion, 'argv' | 'isTerminal'>,
    script: RunningScript,
    widenings: readonly Widening[],
  ): Promise<Result<Pick<PreparedCommand, 'policy' | 'env'>, RefusedCommand>> {
    const { parentEnv, parseScript } = this.#options;
    const ofRoot = await script.machine.policyFor(script.root, [...script.widenings, ...widenings]);
    if (!ofRoot.ok) return ofRoot;
    const policy = await policyForCommand(ofRoot.value, argv, parseScript);
    return ok({ policy, env: environmentUnder(policy, parentEnv, isTerminal) });
  }

  /** What a person may give to a part, and nothing stricter takes back. */
  #waysFor(part: PartQuestion, { root, machine, policy, widenings }: RunningScript): Ways {
    const { roots } = this.#options;
    return {
      widenings: namedPaths(part, policy, machine.paths).filter((path) =>
        isGivable(roots, root, path, widenings),
      ),
      mayLeave: whyConfined(policy) === undefined && mayLeaveSandbox(roots, root),
    };
  }

  async #prepared(
    { root, machine, cwd, policy: ofRoot }: Place,
    shell: string,
    request: CommandRequest,
    { widenings = [], askedPrograms = [] }: Additions,
  ): Promise<PreparedCommand> {
    const policy = await policyForCommand(ofRoot, ['sh', '-c', request.cmd], this.#options.parseScript);
    const { helperFolder } = machine;
    const folders = [
      ...(askedPrograms.length > 0 && !isUnsandboxed(policy) ? [partsInside] : []),
      ...(helperFolder === undefined ? [] : [helperFolder]),
    ];
    const inFront = folders.length === 0 ? undefined : folders.join(':');
    const script =
      request.login && inFront !== undefined ? withSearchPath(shell, inFront, request.cmd) : request.cmd;
    return {
      cwd,
      root,
      machine,
      policy,
      widenings,
      argv: [shell, request.login ? '-lc' : '-c', script],
      ...machine.environmentFor(policy, { isTty: request.isTty, inFront }),
    };
  }
}

/**
 * A root's policy as it holds for one command: `git: commands` becomes what this command line gets. Every script is
 * read with the bash grammar.
 */
export async function policyForCommand(
  policy: SandboxPolicy,
  argv: readonly string[],
  parseScript: BashParser,
): Promise<SandboxPolicy> {
  if (policy.git !== 'commands') {
    return policy;
  }
  const git = (await runsGit(argv, parseScript)) ? 'writable' : 'read-only';
  return { ...policy, git, sources: { ...policy.sources, git: 'request' } };
}
