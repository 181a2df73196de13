import type { Disposable } from '../../base/disposable.ts';
import { DisposableStore } from '../../base/disposable.ts';
import type { Grant } from '../approvals/grant.ts';
import type { GrantStore } from '../approvals/grantStore.ts';
import type { Audit } from './audit.ts';

/** Keeps every grant and every revocation in the audit log. */
export function auditGrants(grants: GrantStore, audit: Audit): Disposable {
  const store = new DisposableStore();
  store.add(
    grants.onDidAdd((grant) => {
      const { lasts, until, because } = grant;
      audit.record({
        kind: 'grant',
        ...about(grant),
        lasts,
        because,
        ...(until !== undefined && { until }),
      });
    }),
  );
  store.add(grants.onDidRevoke((grant) => audit.record({ kind: 'revoke', ...about(grant) })));
  return store;
}

function about({ id, root, environment, what }: Grant): Pick<Grant, 'id' | 'root' | 'environment' | 'what'> {
  return { id, root, ...(environment !== undefined && { environment }), what };
}
