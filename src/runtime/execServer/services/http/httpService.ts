import type { Lookup } from '../../../../sandbox/network/gate.ts';
import type { Upstream } from '../../../../sandbox/network/upstream.ts';
import type { AnswerBudget } from '../../server/answerBudget.ts';
import type { ServiceFactory } from '../../server/service.ts';
import type { AnswerHttpRequest } from './httpRequests.ts';
import type { ServerNetwork } from './serverNetwork.ts';

export interface HttpServiceOptions {
  /** What whole bodies that are not small wait for. */
  readonly answers: AnswerBudget;
  /** By default everything that the machine reaches. */
  readonly network?: ServerNetwork;
  /** Where `valueEnvVar` looks. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly lookup?: Lookup;
  readonly upstream?: () => Upstream | undefined;
}

/**
 * `http/request`: calls on the network of this machine, for as long as the connection lasts. What makes them is loaded
 * with the first one: most servers are never asked, and every start of one would wait for it.
 */
export function httpService(options: HttpServiceOptions): ServiceFactory {
  return (connection) => {
    let loaded: Promise<AnswerHttpRequest> | undefined;
    return {
      handlers: {
        'http/request': async (params, call) => {
          loaded ??= import('./httpRequests.ts').then(({ httpRequests }) =>
            httpRequests(connection, options),
          );
          return (await loaded)(params, call);
        },
      },
      capabilities: ['httpHeaderEnvVars'],
    };
  };
}
