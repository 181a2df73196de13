import type { Result } from '../../../../base/result.ts';
import { fail, ok } from '../../../../base/result.ts';
import type { HostPattern, HostRules } from '../../../../sandbox/policy/hostRules.ts';
import { noHosts, parseHostPattern } from '../../../../sandbox/policy/hostRules.ts';
import type { NetworkMode } from '../../../../sandbox/policy/policy.ts';
import { networkModes } from '../../../../sandbox/policy/policy.ts';

/** What the server itself may reach for its clients: chosen by who starts it, not by them. */
export interface ServerNetwork {
  readonly mode: NetworkMode;
  /** With `on` only the denials count. */
  readonly hosts: HostRules;
}

export const wholeNetwork: ServerNetwork = { mode: 'on', hosts: noHosts };

/** The flags `--network`, `--allow-host` and `--deny-host` as they are written; the latter can be repeated. */
export interface NetworkFlags {
  readonly network?: string | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly denyHost?: readonly string[] | undefined;
}

/** Fails with a sentence that names the flag. */
export function readServerNetwork({
  network,
  allowHost = [],
  denyHost = [],
}: NetworkFlags): Result<ServerNetwork, string> {
  const wanted = network ?? (allowHost.length > 0 ? 'allow-list' : 'on');
  const mode = networkModes.find((word) => word === wanted);
  if (mode === undefined) {
    return fail(`--network is "${wanted}", but must be one of ${networkModes.join(', ')}.`);
  }
  if (mode !== 'allow-list' && allowHost.length > 0) {
    return fail(`--allow-host counts with --network allow-list only, not with "${mode}".`);
  }
  const allow = readPatterns('--allow-host', allowHost);
  const deny = readPatterns('--deny-host', denyHost);
  if (!allow.ok) {
    return allow;
  }
  return deny.ok ? ok({ mode, hosts: { allow: allow.value, deny: deny.value } }) : deny;
}

function readPatterns(flag: string, texts: readonly string[]): Result<readonly HostPattern[], string> {
  const patterns: HostPattern[] = [];
  for (const text of texts) {
    const pattern = parseHostPattern(text);
    if (!pattern.ok) {
      return fail(`${flag} is "${text}", but must be ${pattern.error}.`);
    }
    patterns.push(pattern.value);
  }
  return ok(patterns);
}
