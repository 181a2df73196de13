import type { BlockReason } from './blockedRequest.ts';
import type { Host } from './host.ts';
import { formatPlace } from './host.ts';

/** Why a request does not go out: blocked for a reason, not understood, or not possible. */
export interface Refusal {
  /** Absent: nothing was blocked, the host could not be reached. */
  readonly reason?: BlockReason | 'malformed';
  /** One line in ASCII, for status lines, too. */
  readonly message: string;
  readonly hint: string;
  /** The system's error, when it was one. */
  readonly code?: string;
}

export function refusalOf(reason: BlockReason, host: Host, port: number): Refusal {
  const place = formatPlace(host, port);
  return { reason, message: `${place} ${complaints[reason]}`, hint: hints[reason](host.name) };
}

export function malformed(what: string): Refusal {
  return {
    reason: 'malformed',
    message: what,
    hint: 'This is an HTTP and SOCKS5 proxy: use it as one (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY).',
  };
}

export function unresolved(host: Host, port: number): Refusal {
  return {
    message: `${formatPlace(host, port)} does not resolve`,
    hint: 'Names are resolved outside of the sandbox. Check the spelling and the connection of the machine.',
    code: 'ENOTFOUND',
  };
}

export function unreachable(host: Host, port: number, code: string): Refusal {
  return {
    message: `${formatPlace(host, port)} cannot be reached (${code})`,
    hint: 'The folder allows this host, but it does not answer.',
    code,
  };
}

const complaints = {
  'allow-list': 'is not on the allow-list of this folder',
  'deny-list': 'is denied by a rule of this folder',
  'local-address': 'is a local address, which only a rule that names it opens',
  'server-name': 'was asked for inside a connection to another host, and is not allowed itself',
  method:
    'was asked for something other than GET, HEAD or OPTIONS of plain HTTP, which is all that this command may',
} as const;

const hints: Readonly<Record<keyof typeof complaints, (name: string) => string>> = {
  'allow-list': (name) =>
    `If it is needed, ask the user to add "${name}": "allow" to cordon.sandbox.hosts in the user settings.`,
  'deny-list': () => 'A denial outranks every allow. Only the user can take it out of cordon.sandbox.hosts.',
  'local-address': () =>
    'If it is needed, ask the user to add the address itself, with its port, to cordon.sandbox.hosts: wildcards never open local addresses.',
  'server-name': (name) => `If it is needed, ask the user to add "${name}": "allow" to cordon.sandbox.hosts.`,
  method: () => 'Whoever started the command limits its network to reading: TLS and tunnels are closed, too.',
};
