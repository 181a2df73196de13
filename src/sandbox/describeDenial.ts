import { resolve } from 'node:path';
import { isLikelyNetworkDenied } from './denial.ts';
import type { Complaint, LocatedComplaint } from './denials/complaints.ts';
import { findComplaints } from './denials/complaints.ts';
import { describeLimit } from './denials/describeLimit.ts';
import { describeWrite } from './denials/describeWrite.ts';
import { decisionOn } from './policy/fileRules.ts';
import { locate } from './policy/files/locate.ts';
import type { PolicyMachine } from './policy/input.ts';
import type { BlockedRequest } from './network/blockedRequest.ts';
import { formatPlace, parseHost } from './network/host.ts';
import { refusalOf } from './network/refusal.ts';
import type { PolicyClause, SandboxPolicy } from './policy/policy.ts';
import { hiddenWords } from './ruleWords.ts';

/** What the sandbox likely stopped, in words for a person and a model. */
export interface Denial {
  /** The clause of the policy that stopped it; absent when the output does not tell. */
  readonly clause?: PolicyClause;
  /** The path in front of the message, when one was found. */
  readonly path?: string;
  /** The host that was asked for, with its port. */
  readonly host?: string;
  /** One sentence: what was stopped by which clause. */
  readonly message: string;
  /** What the user can do about it. */
  readonly hint: string;
}

export interface DenialContext {
  /** The end of the output is enough: messages of denials come last. */
  readonly output: string;
  readonly policy: SandboxPolicy;
  readonly exitCode: number;
  /** Where the command ran: what names without a folder are relative to. */
  readonly cwd: string;
  /** What is there outside of the sandbox. */
  readonly canonicalize: PolicyMachine['canonicalize'];
  /** The exit status, or whoever watched, says that the sandbox stopped something. */
  readonly isSuspected: boolean;
  /** What the network's proxy has refused to the command: known, not guessed. */
  readonly blockedRequests?: readonly BlockedRequest[] | undefined;
}

/**
 * Explains a failure by the policy: by what only the sandbox does (a host that its proxy refused, a limit, a path
 * that exists and that it hides), or else, when something is suspected, by what the output complains about. It can
 * only read what the program printed, so it says "likely" where programs say the same for reasons of their own.
 */
export function describeDenial(context: DenialContext): Denial | undefined {
  const { output, policy, exitCode, isSuspected } = context;
  const complaints = findComplaints(output).map((complaint) => located(complaint, context));
  const certain =
    describeBlocked(context.blockedRequests ?? []) ??
    describeHost(output) ??
    describeLimit(output, exitCode, policy) ??
    describeHidden(complaints, policy);
  const isNetworkOff = policy.network !== 'on';
  const isWithoutNetwork = isLikelyNetworkDenied({ exitCode, output, isNetworkOff });
  if (certain !== undefined || !(isSuspected || isWithoutNetwork)) {
    return certain;
  }
  const written = complaints.filter(({ kind }) => kind !== 'missing');
  return (
    describeWrite(written, policy) ??
    (isWithoutNetwork ? describeNetwork(policy) : undefined) ?? {
      message: `The sandbox (${policy.mode}, network ${policy.network}) likely stopped something, but the output does not tell what.`,
      hint: 'Check whether the command writes outside the root, reaches for the network or for other processes.',
    }
  );
}

function located(complaint: Complaint, { cwd, canonicalize }: DenialContext): LocatedComplaint {
  const { path } = complaint;
  return path === undefined || path.startsWith('~')
    ? complaint
    : { ...complaint, place: locate(resolve(cwd, path), { canonicalize }) };
}

/** The proxy knows what it refused, and why: no guess from the output comes near that. */
function describeBlocked([blocked, ...others]: readonly BlockedRequest[]): Denial | undefined {
  if (blocked === undefined) {
    return undefined;
  }
  const host = parseHost(blocked.host) ?? { name: blocked.host };
  const { message, hint } = refusalOf(blocked.reason, host, blocked.port);
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return {
    clause: 'hosts',
    host: formatPlace(host, blocked.port),
    message: `The sandbox stopped a connection: ${message}${more}.`,
    hint,
  };
}

/** What Cordon's proxy answers, wherever the program prints it. */
const refusedHost = /cordon: (\S+) is not on the allow-list of this folder/g;

function describeHost(output: string): Denial | undefined {
  const host = [...output.matchAll(refusedHost)].at(-1)?.[1];
  return host === undefined
    ? undefined
    : {
        clause: 'hosts',
        host,
        message: `The sandbox refused the connection to ${host}: it is not on the allow-list of this root.`,
        hint: `If the command must reach it, ask the user to add "${host}": "allow" to cordon.sandbox.hosts.`,
      };
}

/** A path that exists outside and not inside, or that nobody may look at inside, because a rule hides it. */
function describeHidden(complaints: readonly LocatedComplaint[], policy: SandboxPolicy): Denial | undefined {
  for (const { place } of complaints.toReversed()) {
    const decision = place?.exists === true ? decisionOn(policy, place.path) : undefined;
    if (place !== undefined && decision?.access === 'none') {
      return { clause: 'files', path: place.path, ...hiddenWords(place.path, 'read', decision) };
    }
  }
  return undefined;
}

function describeNetwork({ network }: SandboxPolicy): Denial {
  return network === 'off'
    ? {
        clause: 'network',
        message:
          'The command likely failed because the network is off for this root, loopback of the machine included.',
        hint: 'If it needs the network, ask the user to turn it on for this root: status bar, or cordon.sandbox.network.',
      }
    : {
        clause: 'network',
        message:
          'The command likely failed because this root reaches the hosts of its allow-list only, and those through the proxy that HTTPS_PROXY names.',
        hint: 'Let the program use the proxy, or ask the user for another value of cordon.sandbox.network.',
      };
}
