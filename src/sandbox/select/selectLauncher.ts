import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import type { LauncherName, SandboxError, SandboxReport } from '../sandboxManager.ts';
import type { Limit, MachineFacts } from './launchers.ts';
import { launchers, unknownPlatform } from './launchers.ts';

/** What each launcher of this machine said when it was tried. */
export type Trials = Readonly<Partial<Record<LauncherName, Result<SandboxReport, SandboxError>>>>;

/**
 * The launcher that enforces the policy here. The error is the preferred launcher's, because its cure brings
 * everything; it also tells what another launcher, which works here, would take.
 */
export function selectLauncher(
  platform: NodeJS.Platform,
  trials: Trials,
  policy: SandboxPolicy,
  machine: MachineFacts,
): Result<SandboxReport, SandboxError> {
  let refusal: SandboxError | undefined;
  for (const entry of launchers.filter((candidate) => candidate.platform === platform)) {
    if ('missing' in entry) {
      refusal ??= entry.missing;
      continue;
    }
    const trial = trials[entry.launcher];
    if (trial === undefined) {
      continue;
    }
    if (!trial.ok) {
      refusal ??= trial.error;
      continue;
    }
    const limits = entry.limits.filter(({ applies }) => applies(policy, machine));
    if (limits.length === 0) {
      return ok(trial.value);
    }
    refusal = withLimits(refusal, entry.title, limits, policy);
  }
  return fail(refusal ?? unknownPlatform(platform));
}

/** The clauses of a policy that a launcher cannot enforce, as an error. */
export function withLimits(
  refusal: SandboxError | undefined,
  title: string,
  limits: readonly Limit[],
  policy: SandboxPolicy,
): SandboxError {
  const clauses = limits.map(({ clause, reason }) => `${clause} (from ${policy.sources[clause]}): ${reason}`);
  const told = `${title} cannot enforce this policy: ${clauses.join('; ')}.`;
  const nearest = `What ${title} can enforce: ${limits.map((limit) => limit.nearest).join(', and ')}.`;
  return refusal === undefined
    ? { kind: 'clause-unenforceable', message: told, hint: nearest }
    : { ...refusal, message: `${refusal.message} ${told}`, hint: `${refusal.hint} ${nearest}` };
}
