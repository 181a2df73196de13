import type { Root } from '../roots.ts';
import type { Allowed } from './approval.ts';
import type { GrantStore } from './grantStore.ts';

/** Keeps what a person allowed for longer than once. Leaving the sandbox is never kept. */
export async function keepGrants(
  grants: GrantStore,
  { lasts, forMs, widenings, prefix }: Allowed,
  { root, because }: { readonly root: Root; readonly because: string },
): Promise<void> {
  if (lasts === 'once') {
    return;
  }
  const common = {
    root: root.path,
    ...(root.environment !== undefined && { environment: root.environment }),
    lasts,
    because,
    ...(forMs !== undefined && { until: Date.now() + forMs }),
  };
  for (const widening of widenings) {
    if (widening.kind !== 'unsandboxed') {
      await grants.add({ ...common, what: widening });
    }
  }
  if (prefix !== undefined) {
    await grants.add({ ...common, what: { kind: 'prefix', words: prefix } });
  }
}
