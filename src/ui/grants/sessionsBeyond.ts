import type { Grant } from '../../runtime/approvals/grant.ts';
import type { Roots } from '../../runtime/roots.ts';
import type { Session } from '../../runtime/sessions/session.ts';
import { isWideEnough } from '../../sandbox/policy/widening.ts';

type Running = Pick<Session, 'root' | 'policy' | 'state' | 'isUnsandboxed' | 'startedAt'>;

/** The sessions that run with what a revoked grant allowed and the policy does not allow any more. */
export function sessionsBeyond<T extends Running>(
  revoked: readonly Grant[],
  sessions: readonly T[],
  roots: Pick<Roots, 'policyFor'>,
): readonly T[] {
  return sessions.filter(
    (session) =>
      session.state.kind === 'running' &&
      !session.isUnsandboxed &&
      revoked.some((grant) => isBeyond(session, grant, roots)),
  );
}

function isBeyond(
  { root, policy, startedAt }: Running,
  { what, root: path, grantedAt }: Grant,
  roots: Pick<Roots, 'policyFor'>,
): boolean {
  if (what.kind === 'prefix' || root.path !== path || startedAt.getTime() < grantedAt) {
    return false;
  }
  const now = roots.policyFor(root);
  return isWideEnough(policy, what) && !(now.ok && isWideEnough(now.value, what));
}
