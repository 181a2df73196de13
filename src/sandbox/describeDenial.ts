import { resolve } from 'node:path';
import type { Complaint, LocatedComplaint } from './denials/complaints.ts';
import { findComplaints } from './denials/complaints.ts';
import type { Denial } from './denials/denial.ts';
import { mostDenials } from './denials/denial.ts';
import type { DeniedCall } from './denials/deniedCall.ts';
import { describeCalls } from './denials/describeCalls.ts';
import { describeComplaint, unclear } from './denials/describeComplaint.ts';
import { describeLimit } from './denials/describeLimit.ts';
import { describeNetwork } from './denials/describeNetwork.ts';
import { isLikelyNetworkDenied } from './denials/likelyDenial.ts';
import type { Person } from './denials/person.ts';
import { locate } from './policy/files/locate.ts';
import type { PolicyMachine } from './policy/input.ts';
import type { BlockedRequest } from './network/blockedRequest.ts';
import { formatPlace, parseHost } from './network/host.ts';
import { refusalOf } from './network/refusal.ts';
import type { SandboxPolicy } from './policy/policy.ts';

export interface DenialContext {
  /** The end of the output is enough: messages of denials come last. */
  readonly output: string;
  readonly policy: SandboxPolicy;
  readonly exitCode: number;
  /** Where the command ran: what names without a folder are relative to. */
  readonly cwd: string;
  /** What is there outside of the sandbox. */
  readonly canonicalize: PolicyMachine['canonicalize'];
  readonly person: Person;
  /** What the network's proxy has refused to the command. */
  readonly blockedRequests?: readonly BlockedRequest[] | undefined;
  /** What the kernel has refused to it. */
  readonly deniedCalls?: readonly DeniedCall[] | undefined;
}

/** 128 + SIGSYS: killed by a seccomp filter. */
const killedBySeccomp = 159;

/**
 * What the sandbox stopped, most certain first: what proxy and kernel have refused, also to a command that made do
 * without it; and of a command that failed, what its output complains about, held against the policy. A complaint
 * about what the policy opens is none of the sandbox's.
 */
export function describeDenials(context: DenialContext): readonly Denial[] {
  const { output, policy, exitCode, person } = context;
  const blocked = describeBlocked(context.blockedRequests ?? []);
  const calls = describeCalls(context.deniedCalls ?? []);
  if (exitCode === 0) {
    return distinct([...blocked, ...calls]);
  }
  const complaints = findComplaints(output)
    .map((complaint) => located(complaint, context))
    // The last one is what ended the command.
    .toReversed()
    .map((complaint) => describeComplaint(complaint, policy, person))
    .filter((denial) => denial !== undefined);
  const isWithoutNetwork = isLikelyNetworkDenied({ exitCode, output, isNetworkOff: policy.network !== 'on' });
  const denials = [
    ...(blocked.length > 0 ? blocked : describeHosts(output)),
    ...[describeLimit(output, exitCode, policy)].filter((denial) => denial !== undefined),
    ...complaints,
    ...calls,
    ...(isWithoutNetwork ? [describeNetwork(output, policy)] : []),
    ...(exitCode === killedBySeccomp ? [unclear(policy)] : []),
  ];
  return distinct(denials);
}

/** Known ones first; what says nothing only where nothing else is said. */
function distinct(denials: readonly Denial[]): readonly Denial[] {
  const ordered = [
    ...denials.filter(({ certainty }) => certainty === 'known'),
    ...denials.filter(({ certainty }) => certainty === 'likely'),
  ];
  const byWhat = new Map<string, Denial>();
  for (const denial of ordered) {
    const { clause, path, access, host, socket, call, message } = denial;
    const isVague = clause === undefined && path === undefined && call === undefined;
    const what = JSON.stringify([path, access, host, socket, call && message, clause]);
    if (!byWhat.has(what) && !(isVague && byWhat.size > 0)) {
      byWhat.set(what, denial);
    }
  }
  return [...byWhat.values()].slice(0, mostDenials);
}

function located(complaint: Complaint, { cwd, canonicalize }: DenialContext): LocatedComplaint {
  const { path } = complaint;
  return path === undefined || path.startsWith('~')
    ? complaint
    : { ...complaint, place: locate(resolve(cwd, path), { canonicalize }) };
}

/** The proxy knows what it refused, and why: no guess from the output comes near that. */
function describeBlocked(requests: readonly BlockedRequest[]): readonly Denial[] {
  return requests.map((blocked) => {
    const host = parseHost(blocked.host) ?? { name: blocked.host };
    const { message, hint } = refusalOf(blocked.reason, host, blocked.port);
    return {
      certainty: 'known',
      clause: 'hosts',
      host: formatPlace(host, blocked.port),
      message: `The sandbox stopped a connection: ${message}.`,
      hint,
    };
  });
}

/** What Cordon's proxy answers, wherever the program prints it. */
const refusedHost = /cordon: (\S+) is not on the allow-list of this folder/g;

function describeHosts(output: string): readonly Denial[] {
  return [...output.matchAll(refusedHost)].map(([, host = '']) => ({
    certainty: 'likely',
    clause: 'hosts',
    host,
    message: `The sandbox likely refused the connection to ${host}: it is not on the allow-list of this root.`,
    hint: `If the command must reach it, ask the user to add "${host}": "allow" to cordon.sandbox.hosts.`,
  }));
}
