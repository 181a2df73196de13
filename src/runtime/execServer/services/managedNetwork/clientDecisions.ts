import { longestTimerMs } from '../../../../base/longestTimer.ts';
import type {
  CommandNetwork,
  HostRequest,
  RequestOutcome,
} from '../../../../sandbox/network/commandNetwork.ts';
import { HostMatcher } from '../../../../sandbox/network/matchHost.ts';
import type { HostPattern } from '../../../../sandbox/policy/hostRules.ts';
import type { PolicyDecisionEvent } from '../../protocol/managedNetwork.ts';
import type { ServerResultOf } from '../../protocol/methods.ts';
import type { ServedConnection } from '../../server/service.ts';

export interface DecisionOptions {
  readonly processId: string;
  /** The client that the session has at the moment. */
  readonly client: () => ServedConnection | undefined;
  /** Hosts that it wants to be asked about, whatever rules say. */
  readonly review: readonly HostPattern[];
  /** It wants to be asked about hosts that no rule knows as well. */
  readonly asksAboutUnknown: boolean;
  /** How long an answer is waited for. */
  readonly timeoutMs: number;
}

type Answer = ServerResultOf<'network/policyRequest'>['decision'];

/** The protocol's reason for everything that nobody let through. */
const notAllowed = 'not_allowed';

/**
 * Asks the client about hosts and tells it every decision. Each request is a question of its own, and only a yes in time
 * is one: without a client, without an answer, or with anything else for one, it is a no.
 */
export function clientDecisions({
  processId,
  client,
  review,
  asksAboutUnknown,
  timeoutMs,
}: DecisionOptions): Pick<CommandNetwork, 'review' | 'decide' | 'onOutcome'> {
  const reviewed = new HostMatcher({ allow: [], deny: review });
  const answers = new WeakMap<HostRequest, Answer>();

  const ask = async ({ host, port, protocol }: HostRequest): Promise<Answer> => {
    const asked = client();
    try {
      const answer = await asked?.ask(
        'network/policyRequest',
        { processId, request: { protocol: protocolWords[protocol], host: host.name, port } },
        AbortSignal.timeout(Math.min(timeoutMs, longestTimerMs)),
      );
      return answer?.decision ?? { type: 'deny', reason: notAllowed };
    } catch (error) {
      asked?.log.debug(`network: no answer about ${host.name}: ${String(error)} [${processId}]`);
      return { type: 'deny', reason: notAllowed };
    }
  };

  return {
    review,
    decide: async (request) => {
      if (timeoutMs === 0 || !(asksAboutUnknown || reviewed.isDenied(request.host, request.port))) {
        return 'deny';
      }
      const answer = await ask(request);
      answers.set(request, answer);
      return answer.type === 'allow' ? 'allow' : 'deny';
    },
    onOutcome: async (outcome) => {
      const told = client();
      told?.notify('network/policyDecision', eventOf(processId, outcome, answers.get(outcome.request)));
      // A command that asks for much waits for a client that takes little.
      await told?.whenWritable();
    },
  };
}

const protocolWords = { http: 'http', connect: 'https_connect', socks: 'socks5_tcp' } as const;

function eventOf(
  processId: string,
  { request, refusal }: RequestOutcome,
  answer: Answer | undefined,
): PolicyDecisionEvent {
  const { host, port, protocol, method } = request;
  return {
    processId,
    timestamp: new Date().toISOString(),
    ...verdictOf(request, refusal?.reason, answer),
    protocol: protocolWords[protocol],
    host: host.name,
    port,
    ...(method !== undefined && { method }),
  };
}

type Verdict = Pick<PolicyDecisionEvent, 'scope' | 'decision' | 'source' | 'reason' | 'policyOverride'>;

/** In the words of the reference. */
function verdictOf(
  { protocol }: HostRequest,
  reason: NonNullable<RequestOutcome['refusal']>['reason'],
  answer: Answer | undefined,
): Verdict {
  const byRules = { scope: 'domain', source: 'baseline_policy', policyOverride: false } as const;
  const byClient = { scope: 'domain', source: 'decider' } as const;
  switch (reason) {
    case undefined:
    // What is no request never comes as far as a decision.
    case 'malformed':
      return answer === undefined
        ? { ...byRules, decision: 'allow', reason: 'allow' }
        : { ...byClient, decision: 'allow', reason: notAllowed, policyOverride: true };
    case 'allow-list':
      return answer === undefined
        ? { ...byRules, decision: 'deny', reason: notAllowed }
        : { ...byClient, decision: answer.type, reason: answer.reason ?? notAllowed, policyOverride: false };
    case 'server-name':
      return { ...byRules, decision: 'deny', reason: notAllowed };
    case 'deny-list':
      return { ...byRules, decision: 'deny', reason: 'denied' };
    case 'local-address':
      return { ...byRules, decision: 'deny', reason: 'not_allowed_local' };
    case 'method':
      return {
        scope: 'non_domain',
        source: 'mode_guard',
        decision: 'deny',
        reason: protocol === 'connect' ? 'mitm_required' : 'method_not_allowed',
        policyOverride: false,
      };
  }
}
