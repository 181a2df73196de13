import { basename, join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import type { Result } from '../../src/base/result.ts';
import { ok } from '../../src/base/result.ts';
import type { PatchHost } from '../../src/patch/patchHost.ts';
import type { ReviewMode } from '../../src/patch/reviewMode.ts';
import type { ApprovalPolicy } from '../../src/runtime/approvals/approvalPolicy.ts';
import { defaultApproval } from '../../src/runtime/approvals/approvalPolicy.ts';
import { Approvals } from '../../src/runtime/approvals/approvals.ts';
import { withGrantedPrefixes } from '../../src/runtime/approvals/grantedRules.ts';
import { GrantStore } from '../../src/runtime/approvals/grantStore.ts';
import type { AuditEvent } from '../../src/runtime/audit/auditEntry.ts';
import type { Environment } from '../../src/runtime/environments/environment.ts';
import { RemotePolicies } from '../../src/runtime/machines/remotePolicies.ts';
import type { Root, RootSettings } from '../../src/runtime/roots.ts';
import type { Session } from '../../src/runtime/sessions/session.ts';
import type { ExecBackend } from '../../src/runtime/exec/execBackend.ts';
import { createToolRuntime } from '../../src/runtime/toolRuntime.ts';
import type { ToolRuntime } from '../../src/runtime/toolRuntime.ts';
import { parseToolInput } from '../../src/runtime/tools/parseToolInput.ts';
import type { ToolResult } from '../../src/runtime/tools/tool.ts';
import { createSandboxManager } from '../../src/sandbox/createSandboxManager.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import type { PolicyInput } from '../../src/sandbox/policy/input.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';
import type { Widening } from '../../src/sandbox/policy/widening.ts';
import { widenSettings } from '../../src/sandbox/policy/widening.ts';
import type { RuleSet } from '../../src/sandbox/rules/rule.ts';
import { noRules } from '../../src/sandbox/rules/rule.ts';
import type { SandboxManager } from '../../src/sandbox/sandboxManager.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';

/** The real helper program, as `npm run build` leaves it. */
export const helperPath = join(import.meta.dirname, '../../dist/helper', `launch-linux-${process.arch}`);

/** The programs that every command finds first, as `npm run build` leaves them. */
export const helperFolder = join(import.meta.dirname, '../../dist/bin');

/** The real sandbox of this machine. */
export function createTestSandbox(searchPath: string = process.env['PATH'] ?? ''): SandboxManager {
  return createSandboxManager({
    platform: process.platform,
    helperPath,
    searchPath,
    log: silentLog,
    untrustedFolders: () => [],
    ...(process.env['CORDON_MOUNTED_BY'] === 'bubblewrap' && { mountedBy: 'bubblewrap' }),
  });
}

/** The policy that a user's settings give for a folder. */
export function testPolicy(root: string, user: PolicyInput['user'] = {}, isTrusted = true): SandboxPolicy {
  const resolved = resolvePolicy({ ...nodeMachine(), root, isTrusted, user });
  if (!resolved.ok) {
    throw new Error(resolved.error.message);
  }
  return resolved.value;
}

export interface TestRuntime {
  /** Where the commands run: on the other machine, if there is one. */
  readonly root: string;
  /** The root as it is called here. */
  readonly localRoot: string;
  readonly runtime: ToolRuntime;
  readonly approvals: Approvals;
  readonly grants: GrantStore;
  /** What the audit log got, in order. */
  readonly audited: readonly AuditEvent[];
  /** Calls a tool as an agent would. */
  call(
    name: string,
    input: unknown,
    options?: { signal?: AbortSignal; allow?: boolean },
  ): Promise<ToolResult>;
  /** Calls `exec_command` and expects a session that goes on. */
  open(cmd: string, input?: object): Promise<Session>;
  /** Types into a session and returns the answer's text. */
  type(session: Session, chars: string, input?: object): Promise<string>;
  dispose(): Promise<void>;
}

export interface TestRuntimeOptions {
  readonly reviewMode?: ReviewMode;
  readonly patchHost?: PatchHost;
  readonly approval?: ApprovalPolicy;
  readonly rules?: RuleSet;
  /** Another machine on which the root's commands run. Its folder takes the place of the root's own. */
  readonly environment?: Environment;
  /** What runs the commands of this machine; this process by default. */
  readonly backend?: ExecBackend;
  /** Of the workspace, asked with every command; trusted by default. */
  readonly isTrusted?: () => boolean;
  /** Takes a defence away. */
  readonly changeSandbox?: (sandbox: SandboxManager) => SandboxManager;
}

/** Makes runtimes for a suite: {@link createTestRuntime}, or one whose commands run elsewhere. */
export type CreateTestRuntime = typeof createTestRuntime;

/** A tool runtime over one temporary root, everything in it real. */
export async function createTestRuntime(
  user: PolicyInput['user'] | ((root: string) => PolicyInput['user']) = {},
  parentEnv: NodeJS.ProcessEnv = process.env,
  {
    reviewMode = 'never',
    patchHost,
    approval = defaultApproval,
    rules = noRules,
    changeSandbox,
    environment,
    backend,
    isTrusted = () => true,
  }: TestRuntimeOptions = {},
): Promise<TestRuntime> {
  const folder = await createTemporaryFolder('root');
  const root: Root = {
    name: basename(environment?.folder ?? folder.path),
    path: folder.path,
    ...(environment !== undefined && { environment: environment.name }),
  };
  const remotePolicies = new RemotePolicies();
  const grants = new GrantStore();
  const settings = typeof user === 'function' ? user(environment?.folder ?? folder.path) : user;
  const policyFor = (_: Root, widenings: readonly Widening[] = []): Result<SandboxPolicy, never> => {
    const policy = testPolicy(folder.path, settings, isTrusted());
    const all = [...grants.wideningsOf(root), ...widenings];
    return ok(
      all.length === 0
        ? policy
        : testPolicy(folder.path, widenSettings(settings, all, policy, nodeMachine()), isTrusted()),
    );
  };
  const settingsOf = (): RootSettings => ({
    isTrusted: isTrusted(),
    user: settings,
    widenings: grants.wideningsOf(root),
  });
  const approvals = new Approvals({ grants, expiresAfterMs: () => 60_000 });
  const audited: AuditEvent[] = [];
  const runtime = createToolRuntime({
    roots: {
      list: () => [root],
      active: () => root,
      policyFor: (_, widenings = []) =>
        environment === undefined
          ? policyFor(root, widenings)
          : remotePolicies.policyFor(root, settingsOf(), widenings),
      settingsFor: () => ok(settingsOf()),
      approvalPolicyFor: () => ok(approval),
      rulesFor: async () => withGrantedPrefixes(rules, grants.prefixesOf(root)),
      reviewModeFor: () => reviewMode,
    },
    sandbox: changeSandbox?.(createTestSandbox()) ?? createTestSandbox(),
    log: silentLog,
    approvals,
    audit: { record: (event) => audited.push(event) },
    helperFolder,
    ...(backend !== undefined && { backend }),
    ...(environment !== undefined && {
      backend: environment.backend,
      remote: { environments: { get: () => ok(environment) }, policies: remotePolicies },
    }),
    ...(patchHost !== undefined && { patchHost }),
    // A home without start-up files: what a person's own print would be in every answer.
    parentEnv: { ...parentEnv, SHELL: '/bin/bash', HOME: '/usr/share' },
  });

  const call: TestRuntime['call'] = async (name, input, options = {}) => {
    const tool = runtime.tools.find((candidate) => candidate.name === name);
    if (tool === undefined) {
      throw new Error(`no tool ${name}`);
    }
    const parsed = parseToolInput(tool, input);
    if (!parsed.ok) {
      return { text: parsed.error, isError: true };
    }
    const { signal = new AbortController().signal, allow = true } = options;
    return tool.invoke(parsed.value, { signal, owner: 'Test', wasConfirmed: () => allow });
  };

  return {
    root: environment?.folder ?? folder.path,
    localRoot: folder.path,
    runtime,
    approvals,
    grants,
    audited,
    call,
    async open(cmd, input = {}) {
      const result = await call('exec_command', { cmd, tty: true, yield_time_ms: 250, ...input });
      const session = result.sessionId === undefined ? undefined : runtime.sessions.get(result.sessionId);
      if (session === undefined || session.state.kind !== 'running') {
        throw new Error(`the command did not go on as a session:\n${result.text}`);
      }
      return session;
    },
    async type(session, chars, input = {}) {
      return (await call('write_stdin', { session_id: session.id, chars, ...input })).text;
    },
    async dispose() {
      await runtime.dispose();
      await folder.dispose();
    },
  };
}
