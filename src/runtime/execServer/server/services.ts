import { discoveryService } from '../services/discovery/discoveryService.ts';
import { doorHandlers } from '../services/doors/doorService.ts';
import { sessionFileService } from '../services/files/sessionFileService.ts';
import { httpService } from '../services/http/httpService.ts';
import type { ServerNetwork } from '../services/http/serverNetwork.ts';
import { patchHandlers } from '../services/patches/patchService.ts';
import { processService } from '../services/processes/processService.ts';
import type { ContextMachine } from '../services/sandboxContext/contextMachine.ts';
import { policyHandlers } from '../services/sandboxContext/policyService.ts';
import type { AnswerBudget } from './answerBudget.ts';
import type { ServiceFactory } from './service.ts';
import type { Session } from './session.ts';

/** What services may need to know of the server around them. */
export interface ServiceSurroundings {
  /** The session of the connection, once the handshake is over. */
  readonly sessionOf: () => Session;
  /** `dist`. */
  readonly bundleFolder: string;
  /** What processes inherit. */
  readonly parentEnv: NodeJS.ProcessEnv;
  /** On which sandbox contexts are to be enforced. */
  readonly machine: ContextMachine;
  /** What the server itself reaches for its clients. */
  readonly network: ServerNetwork;
  /** For large answers of the whole server about files. */
  readonly answers: AnswerBudget;
  /** For bodies of HTTP that are answered whole, of the whole server. */
  readonly bodies: AnswerBudget;
  /** Of the server's own. */
  readonly trustedPaths: readonly string[];
}

/** Everything that a connection is served with. A new concern is a folder in `services` and a line here. */
export function serviceFactories({
  sessionOf,
  bundleFolder,
  parentEnv: environment,
  machine,
  network,
  answers,
  bodies,
  trustedPaths: own,
}: ServiceSurroundings): readonly ServiceFactory[] {
  const trustedPaths = (): readonly string[] => [bundleFolder, ...own, ...sessionOf().trustedPaths];
  return [
    processService(sessionOf),
    sessionFileService({
      machine,
      answers,
      bundleFolder,
      confinedBy: (policy) => sessionOf().confinedBy(policy).sandbox,
      trustedPaths,
    }),
    httpService({ network, environment, answers: bodies }),
    discoveryService({ environment }),
    () => ({ handlers: doorHandlers(sessionOf) }),
    () => ({ handlers: policyHandlers() }),
    () => ({ handlers: patchHandlers({ machine, trustedPaths }) }),
  ];
}
