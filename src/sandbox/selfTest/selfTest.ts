import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import { childEnvironment } from '../environment.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import type { Launch, SandboxError, SandboxManager, SandboxReport } from '../sandboxManager.ts';
import { openGrounds } from './grounds.ts';
import type { Attempt, Probe, ProbeContext } from './probes.ts';
import { inheritedDescriptor, probes, secretName } from './probes.ts';

/**
 * `held`: refused, and its harmless counterpart works. `broken`: the attack worked. `lost`: the counterpart does not
 * work. `skipped`: there is nothing to try. `failed`: the probe itself could not run.
 */
export type Verdict = 'held' | 'broken' | 'lost' | 'skipped' | 'failed';

export interface ProbeResult {
  readonly probe: Probe;
  readonly verdict: Verdict;
  /** Why, where the verdict does not say it. */
  readonly detail?: string;
}

export interface SelfTestResult {
  readonly policy: SandboxPolicy;
  readonly report: SandboxReport;
  /** In the order of {@link probes}; fewer when it was cancelled. */
  readonly results: readonly ProbeResult[];
}

export interface SelfTestOptions {
  readonly manager: SandboxManager;
  readonly policy: SandboxPolicy;
  /** The companion program, outside of the sandbox. */
  readonly companion: string;
  readonly signal?: AbortSignal;
  readonly onResult?: (result: ProbeResult, count: number) => void;
  readonly probes?: readonly Probe[];
  /** For tests: changes how the launcher is started. */
  readonly edit?: (argv: readonly string[]) => readonly string[];
}

/** A probe takes milliseconds; one that takes this long hangs. */
const deadlineMs = 20_000;
/** The kernel ends everything at once; who lives on after this long has not been ended. */
const survivalMs = 3_000;

/** Whether a result means that the sandbox does not do what it promises. */
export function isTrouble({ verdict }: ProbeResult): boolean {
  return verdict !== 'held' && verdict !== 'skipped';
}

/**
 * Tries every promise of the sandbox on this machine, under a policy that confines: each probe runs in a sandbox of
 * its own and attacks what the self-test made for it. Fails when no launcher enforces the policy here.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<Result<SelfTestResult, SandboxError>> {
  const { manager, policy, companion, signal } = options;
  const report = (await manager.check(true)).launcherFor(policy);
  if (!report.ok) {
    return report;
  }
  const results: ProbeResult[] = [];
  const grounds = await openGrounds(policy, companion);
  try {
    const context = { policy, launcher: report.value.launcher, grounds };
    for (const probe of options.probes ?? probes) {
      if (signal?.aborted === true) {
        break;
      }
      const result = await tryProbe(probe, context, report.value.companionInside, options);
      results.push(result);
      options.onResult?.(result, results.length);
    }
  } finally {
    await grounds[Symbol.asyncDispose]();
  }
  return ok({ policy, report: report.value, results });
}

async function tryProbe(
  probe: Probe,
  context: ProbeContext,
  companionInside: string,
  options: SelfTestOptions,
): Promise<ProbeResult> {
  const reason = probe.skip?.(context);
  if (reason !== undefined) {
    return { probe, verdict: 'skipped', detail: reason };
  }
  const run = async (attempt: Attempt): Promise<Outcome> =>
    runAttempt(
      attempt.filter((word) => word !== undefined),
      probe.how,
      companionInside,
      options,
    );
  const attack = await run(probe.attack(context));
  if (attack.kind === 'failed') {
    return { probe, verdict: 'failed', detail: attack.detail };
  }
  if (attack.kind === 'worked') {
    return { probe, verdict: 'broken' };
  }
  if (probe.refusedWith !== undefined && attack.error !== probe.refusedWith) {
    return { probe, verdict: 'broken', detail: `only refused by chance (error ${attack.error})` };
  }
  const counterpart = probe.counterpart?.(context);
  if (counterpart === undefined) {
    return { probe, verdict: 'held' };
  }
  const harmless = await run(counterpart);
  const what = counterpart.join(' ');
  switch (harmless.kind) {
    case 'worked':
      return { probe, verdict: 'held' };
    case 'refused':
      return {
        probe,
        verdict: 'lost',
        detail: `"${what}" must work and was refused (error ${harmless.error})`,
      };
    case 'failed':
      return { probe, verdict: 'failed', detail: `"${what}": ${harmless.detail}` };
  }
}

type Outcome =
  | { readonly kind: 'worked' }
  | { readonly kind: 'refused'; readonly error: number }
  | { readonly kind: 'failed'; readonly detail: string };

async function runAttempt(
  words: readonly string[],
  how: Probe['how'],
  companionInside: string,
  { manager, policy, edit }: SelfTestOptions,
): Promise<Outcome> {
  const env = childEnvironment({
    policy: policy.environment,
    parent: { ...process.env, [secretName]: 'not a secret' },
    isTty: false,
    isNetworkOff: policy.network === 'off',
  });
  const argv = [companionInside, '--probe', ...words];
  const launch = await manager.transform(policy, { argv, cwd: policy.root, env, tty: false });
  if (!launch.ok) {
    return { kind: 'failed', detail: launch.error.message };
  }
  try {
    return await observe(start(launch.value, how, edit), how);
  } finally {
    await launch.value.release();
  }
}

function start(launch: Launch, how: Probe['how'], edit: SelfTestOptions['edit']): ChildProcess {
  const [file = '', ...args] = edit?.(launch.argv) ?? launch.argv;
  const leak = how === 'descriptor' ? openSync('/dev/null', 'r') : undefined;
  const unused = Array.from({ length: inheritedDescriptor - 3 }, () => 'ignore' as const);
  try {
    return spawn(file, args, {
      cwd: launch.cwd,
      env: launch.env,
      stdio: ['ignore', 'pipe', 'pipe', ...(leak === undefined ? [] : [...unused, leak])],
    });
  } finally {
    if (leak !== undefined) {
      closeSync(leak);
    }
  }
}

/**
 * `killed`: the command's background process says that it lives; then the launcher is killed; its end closes the
 * standard output, which nobody else has.
 */
function observe(child: ChildProcess, how: Probe['how']): Promise<Outcome> {
  return new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    let isReady = false;
    const giveUp = (): void => {
      child.kill('SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(isReady ? { kind: 'worked' } : { kind: 'failed', detail: 'it does not end' });
    };
    let timer = setTimeout(giveUp, deadlineMs);
    const finish = (outcome: Outcome): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (how === 'killed' && stdout.includes('ready')) {
        isReady = true;
        clearTimeout(timer);
        timer = setTimeout(giveUp, survivalMs);
        child.kill('SIGKILL');
      }
    });
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.once('error', (error) => finish({ kind: 'failed', detail: error.message }));
    child.once('close', (code) => {
      if (isReady) {
        finish({ kind: 'refused', error: 0 });
      } else if (code === 0) {
        finish({ kind: 'worked' });
      } else if (code === 1 && /^\d+\n$/.test(stdout)) {
        finish({ kind: 'refused', error: Number(stdout) });
      } else {
        finish({ kind: 'failed', detail: stderr.trim() || `exit code ${code ?? 'none'}` });
      }
    });
  });
}
