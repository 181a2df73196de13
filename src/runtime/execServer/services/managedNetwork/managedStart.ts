import type { CommandNetwork } from '../../../../sandbox/network/commandNetwork.ts';
import type { HostPattern } from '../../../../sandbox/policy/hostRules.ts';
import type { PolicyMachine } from '../../../../sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import type { ManagedNetwork, NetworkProxySpec } from '../../protocol/managedNetwork.ts';
import type { ParamsOf } from '../../protocol/methods.ts';
import type { SandboxContext } from '../../protocol/sandboxContext.ts';
import type { DecisionOptions } from './clientDecisions.ts';
import { clientDecisions } from './clientDecisions.ts';
import { hostRulesOf, reviewPatternsOf } from './hostWords.ts';
import { invalidWord } from './invalidWord.ts';
import { withProxy } from './proxyEnvironment.ts';
import { socketsOf } from './socketWords.ts';

type Words = Pick<
  ParamsOf<'process/start'>,
  'processId' | 'enforceManagedNetwork' | 'managedNetwork' | 'networkProxy' | 'sandbox' | 'cordon'
>;

/** How a start is carried out whose network is managed in the words of the protocol. */
export interface ManagedStart {
  readonly sandbox: SandboxContext;
  /** In place of those that the context alone would give. */
  readonly clauses: Partial<Pick<SandboxPolicy, 'network' | 'hosts' | 'sockets'>>;
  /** Of the proxy, where there is one. */
  readonly network?: CommandNetwork;
  readonly environment: (env: Readonly<Record<string, string>>) => Record<string, string>;
}

/** For an answer to a client that did not say how long it may take. */
const defaultTimeoutMs = 10_000;

/**
 * What a start's words about its network mean here; undefined when they ask for nothing, or only open what is open
 * anyway. Throws an `RpcError` that names the word which cannot be kept.
 */
export function managedStartOf(
  words: Words,
  client: DecisionOptions['client'],
  machine: PolicyMachine,
): ManagedStart | undefined {
  const { enforceManagedNetwork: isEnforced, processId } = words;
  const proxy = words.networkProxy?.proxy.enabled === true ? words.networkProxy : undefined;
  const around = words.managedNetwork ?? nothingAround;
  refuseImpossible(proxy, around);
  if (!isEnforced && proxy === undefined && !opensSomething(around)) {
    return undefined;
  }
  const sandbox = confinedBy(words, proxy);
  if (sandbox === undefined) {
    return undefined;
  }
  const ports = around.loopbackPorts;
  if (isEnforced && proxy === undefined && ports.length === 0) {
    throw invalidWord(
      'enforceManagedNetwork',
      'there is no proxy that the network could be kept to',
      'Give networkProxy, or ports in managedNetwork.loopbackPorts',
    );
  }
  const sockets = socketsOf([socketsAround(around), socketsBeside(proxy)], machine);
  const isRestricted = isEnforced || proxy !== undefined || sandbox.network === 'restricted';
  if (!isRestricted || (proxy === undefined && ports.length === 0)) {
    return { sandbox: sandbox.context, clauses: { sockets }, environment: (env) => ({ ...env }) };
  }
  const allowsLocal = around.allowLocalBinding || proxy?.proxy.allowLocalBinding === true;
  const rules = hostRulesOf(proxy?.proxy.domains ?? {});
  return {
    sandbox: restricted(sandbox.context),
    clauses: {
      network: 'allow-list',
      hosts: { ...rules, allow: [...rules.allow, ...ports.flatMap(onLoopback)] },
      sockets,
    },
    network: {
      localAddresses: allowsLocal ? 'open' : 'address',
      ...(proxy !== undefined && networkOf(proxy, processId, client)),
    },
    environment: (env) => withProxy(env, allowsLocal),
  };
}

const nothingAround: ManagedNetwork = {
  loopbackPorts: [],
  allowLocalBinding: false,
  allowUnixSockets: [],
  dangerouslyAllowAllUnixSockets: false,
  transparentTcp: false,
};

function opensSomething(around: ManagedNetwork): boolean {
  return Object.values(around).some((value) => (Array.isArray(value) ? value.length > 0 : value));
}

function refuseImpossible(proxy: NetworkProxySpec | undefined, around: ManagedNetwork): void {
  const impossible: readonly (readonly [string, boolean])[] = [
    ['networkProxy.proxy.transparentTcp', proxy?.proxy.transparentTcp === true],
    [
      'networkProxy.proxy.dangerouslyAllowAllUnixSockets',
      proxy?.proxy.dangerouslyAllowAllUnixSockets === true,
    ],
    ['managedNetwork.transparentTcp', around.transparentTcp],
    ['managedNetwork.dangerouslyAllowAllUnixSockets', around.dangerouslyAllowAllUnixSockets],
  ];
  const [field] = impossible.find(([, isWanted]) => isWanted) ?? [];
  if (field !== undefined) {
    throw invalidWord(field, 'this server cannot do that', 'Give false, or leave it out');
  }
}

interface Confined {
  readonly context: SandboxContext;
  readonly network: 'restricted' | 'enabled';
}

/** The sandbox in which the network is managed; undefined when nothing is confined and nothing has to be. */
function confinedBy(
  { sandbox, cordon, enforceManagedNetwork }: Words,
  proxy: NetworkProxySpec | undefined,
): Confined | undefined {
  const field =
    proxy !== undefined ? 'networkProxy' : enforceManagedNetwork ? 'enforceManagedNetwork' : 'managedNetwork';
  if (cordon?.policy !== undefined) {
    throw invalidWord(field, 'cordon.policy says itself what the network is', 'Send one of them');
  }
  if (sandbox?.permissions.type === 'managed') {
    return { context: sandbox, network: sandbox.permissions.network };
  }
  if (field !== 'managedNetwork') {
    throw invalidWord(
      field,
      'without a sandbox nothing keeps the command to a proxy',
      'Give a sandbox whose permissions are of type "managed"',
    );
  }
  return undefined;
}

/** Also where the context has the network enabled: the proxy is the way out then. */
function restricted(context: SandboxContext): SandboxContext {
  const { permissions } = context;
  return permissions.type === 'managed'
    ? { ...context, permissions: { ...permissions, network: 'restricted' } }
    : context;
}

function onLoopback(port: number): readonly HostPattern[] {
  return ['127.0.0.1', '[::1]', 'localhost'].map((host) => ({ host, port }));
}

function socketsAround({ allowUnixSockets: allow }: ManagedNetwork) {
  return { field: 'managedNetwork.allowUnixSockets', allow, deny: [] };
}

function socketsBeside(proxy: NetworkProxySpec | undefined) {
  const given = Object.entries(proxy?.proxy.unixSockets ?? {});
  const of = (verdict: 'allow' | 'deny'): readonly string[] =>
    given.flatMap(([path, word]) => (word === verdict ? [path] : []));
  return { field: 'networkProxy.proxy.unixSockets', allow: of('allow'), deny: of('deny') };
}

function networkOf(
  { proxy, policyDecisionTimeoutMs: timeoutMs }: NetworkProxySpec,
  processId: string,
  client: DecisionOptions['client'],
): CommandNetwork {
  return {
    isReadOnly: proxy.mode === 'limited',
    speaksSocks: proxy.enableSocks5,
    usesUpstream: proxy.allowUpstreamProxy,
    ...clientDecisions({
      processId,
      client,
      review: reviewPatternsOf(proxy.reviewDomains ?? []),
      // Who says how long answers take has somebody who answers.
      asksAboutUnknown: typeof timeoutMs === 'number',
      timeoutMs: timeoutMs ?? defaultTimeoutMs,
    }),
  };
}
