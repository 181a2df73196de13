import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import type { Environments } from '../../runtime/environments/environments.ts';
import { environmentSetting } from '../../runtime/environments/environments.ts';
import type { Root } from '../../runtime/roots.ts';
import type { PolicyStore } from '../policyStore.ts';

export interface AskPoliciesOptions {
  readonly environments: Pick<Environments, 'get' | 'onDidChange'>;
  readonly policies: Pick<PolicyStore, 'list' | 'policyFor' | 'onDidChange'>;
  /** Asks the machine of a root, after which the policy is known. */
  readonly ask: (root: Root) => Promise<void>;
  readonly log: Log;
}

/**
 * Asks every machine that is connected what commands may do there, so that it is shown before the first command and
 * after every change of the settings. Connects to nothing.
 */
export function askPolicies({ environments, policies, ask, log }: AskPoliciesOptions): Disposable {
  const asking = new Set<string>();
  const askAbout = async (root: Root): Promise<void> => {
    const key = JSON.stringify([root.environment, root.path]);
    if (asking.has(key)) {
      return;
    }
    asking.add(key);
    try {
      await ask(root);
    } catch (error) {
      log.warn(`the policy of ${root.path} on ${root.environment} is not known: ${String(error)}`);
    } finally {
      asking.delete(key);
    }
  };
  const look = (): void => {
    for (const root of policies.list()) {
      const environment = root.environment === undefined ? undefined : environments.get(root.environment);
      if (environment?.ok === true && environment.value.state.kind === 'connected' && isUnknown(root)) {
        void askAbout(root);
      }
    }
  };
  const isUnknown = (root: Root): boolean => {
    const policy = policies.policyFor(root);
    return !policy.ok && policy.error.field === environmentSetting;
  };
  const store = new DisposableStore();
  store.add(environments.onDidChange(look));
  store.add(policies.onDidChange(look));
  return store;
}
