import { fail, ok } from '../../base/result.ts';
import type { Environments } from '../environments/environments.ts';
import type { Roots } from '../roots.ts';
import type { Machine, MachineOf } from './machine.ts';
import type { RemotePolicies } from './remotePolicies.ts';

export interface MachinesOptions {
  readonly roots: Roots;
  readonly local: Machine;
  /** Absent: there is only this machine. */
  readonly remote?:
    { readonly environments: Pick<Environments, 'get'>; readonly policies: RemotePolicies } | undefined;
}

/** The machine of each root: this one, or that of the environment which runs its commands. */
export function createMachines({ roots, local, remote }: MachinesOptions): MachineOf {
  return async ({ environment: name }) => {
    if (name === undefined) {
      return ok(local);
    }
    if (remote === undefined) {
      return fail({ message: `There is no environment "${name}".`, hint: 'Run it on this machine.' });
    }
    const environment = remote.environments.get(name);
    if (!environment.ok) {
      return environment;
    }
    const { remoteMachine } = await import('./remoteMachine.ts');
    const client = await environment.value.connect();
    return client.ok
      ? ok(
          remoteMachine({
            roots,
            environment: environment.value,
            client: client.value,
            policies: remote.policies,
          }),
        )
      : client;
  };
}
