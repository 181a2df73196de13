import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { PolicySource } from '../../sandbox/policy/policy.ts';
import type { PolicyError } from '../roots.ts';

/**
 * When a person is asked, as in the reference. `untrusted`: before every command that is not known to be harmless.
 * `on-request`: before dangerous ones, and when the agent asks for more than the sandbox gives. `on-failure`: also
 * when the sandbox stopped something. `never`: nobody is asked, so what would need a yes is refused. `granular`:
 * as `on-failure`, with a switch for each kind of question.
 */
export const approvalModes = ['untrusted', 'on-request', 'on-failure', 'never', 'granular'] as const;
export type ApprovalMode = (typeof approvalModes)[number];

/** The kinds of questions that `granular` switches; one that is off is answered with no. */
export const questionKinds = ['sandbox', 'rules', 'permissions'] as const;
export type QuestionKind = (typeof questionKinds)[number];

export interface ApprovalPolicy {
  readonly mode: ApprovalMode;
  /** Which questions are put to a person at all. */
  readonly asks: Readonly<Record<QuestionKind, boolean>>;
  /** Who decided the mode. */
  readonly source: Extract<PolicySource, 'default' | 'user' | 'workspace'>;
}

const everything: ApprovalPolicy['asks'] = { sandbox: true, rules: true, permissions: true };
const nothing: ApprovalPolicy['asks'] = { sandbox: false, rules: false, permissions: false };

export const defaultApproval: ApprovalPolicy = { mode: 'on-request', asks: everything, source: 'default' };

/** The policy for callers whose person cannot be asked. */
export const neverAsk: ApprovalPolicy = { mode: 'never', asks: nothing, source: 'default' };

/**
 * Whether the person wants no questions even where there is no sandbox. A workspace cannot want that for them: its
 * `never` refuses what would be asked.
 */
export function runsUnasked({ mode, source }: ApprovalPolicy): boolean {
  return mode === 'never' && source !== 'workspace';
}

/**
 * The approval policy of a root. A workspace can only make it stricter: it may ask for `untrusted`, or for `never`,
 * and neither where the person's own word is one of these already.
 */
export function resolveApprovalPolicy({
  user,
  granular,
  workspace,
}: {
  readonly user: unknown;
  readonly granular: unknown;
  readonly workspace: unknown;
}): Result<ApprovalPolicy, PolicyError> {
  const own = modeOf(user, 'the user settings');
  const theirs = modeOf(workspace, 'the workspace settings');
  if (!own.ok) return own;
  if (!theirs.ok) return theirs;
  const chosen = own.value ?? defaultApproval.mode;
  const isStricter =
    (theirs.value === 'untrusted' || theirs.value === 'never') &&
    chosen !== 'untrusted' &&
    chosen !== 'never';
  const mode = isStricter && theirs.value !== undefined ? theirs.value : chosen;
  const source = isStricter ? 'workspace' : own.value === undefined ? 'default' : 'user';
  if (mode !== 'granular') {
    return ok({ mode, asks: mode === 'never' ? nothing : everything, source });
  }
  const switches = switchesOf(granular);
  return switches.ok ? ok({ mode, asks: switches.value, source }) : switches;
}

function modeOf(value: unknown, whose: string): Result<ApprovalMode | undefined, PolicyError> {
  const mode = approvalModes.find((word) => word === value);
  return value === undefined || mode !== undefined
    ? ok(mode)
    : problem('cordon.approvals.policy', value, whose, `one of ${approvalModes.join(', ')}`);
}

function switchesOf(value: unknown): Result<ApprovalPolicy['asks'], PolicyError> {
  if (value === undefined) {
    return ok(everything);
  }
  const expected = `an object with true or false for ${questionKinds.join(', ')}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return problem('cordon.approvals.granular', value, 'the user settings', expected);
  }
  const isKind = (name: string): boolean => (questionKinds as readonly string[]).includes(name);
  const wrong = Object.entries(value).find(([name, isOn]) => !isKind(name) || typeof isOn !== 'boolean');
  return wrong === undefined
    ? ok({ ...everything, ...(value as Partial<ApprovalPolicy['asks']>) })
    : problem(
        `cordon.approvals.granular.${wrong[0]}`,
        wrong[1],
        'the user settings',
        isKind(wrong[0]) ? 'true or false' : `left out: the switches are ${questionKinds.join(', ')}`,
      );
}

function problem(field: string, value: unknown, whose: string, expected: string): Result<never, PolicyError> {
  return fail({
    field,
    message: `${field} is ${JSON.stringify(value)} in ${whose}, but must be ${expected}.`,
    hint: `Correct ${field} in ${whose}. No command of an agent runs in this folder until then.`,
  });
}
