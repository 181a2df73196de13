import type { SandboxPolicy } from '../policy/policy.ts';
import type { Denial } from './denial.ts';

/** For a command that complains about the network where it has none, or only the proxy. */
export function describeNetwork(output: string, { network }: SandboxPolicy): Denial {
  const host = hostIn(output);
  return {
    certainty: 'likely',
    clause: 'network',
    ...(host !== undefined && { host }),
    ...(network === 'off'
      ? {
          message:
            'The command likely failed because the network is off for this root, loopback of the machine included.',
          hint: 'If it needs the network, ask the user to turn it on for this root: status bar, or cordon.sandbox.network.',
        }
      : {
          message:
            'The command likely failed because this root reaches the hosts of its allow-list only, and those through the proxy that HTTPS_PROXY names.',
          hint: 'Let the program use the proxy, or ask the user for another value of cordon.sandbox.network.',
        }),
  };
}

const name = String.raw`['"‘“]?((?:[\w-]+\.)*[\w-]+|\[[\da-f:]+\])['"’”]?`;

/** How programs name the host that they did not reach: curl, wget, git, Node, Go, ping, apt. */
const hostPatterns: readonly RegExp[] = [
  new RegExp(String.raw`failed to connect to ${name} port (\d+)`, 'gi'),
  new RegExp(String.raw`couldn't connect to server: ${name}:(\d+)`, 'gi'),
  new RegExp(String.raw`\bconnect E[A-Z]+ ${name}:(\d+)`, 'g'),
  new RegExp(String.raw`\bdial (?:tcp|udp):? (?:lookup )?${name}(?::(\d+))?\b`, 'g'),
  new RegExp(String.raw`(?:could not|unable to) resolve (?:host(?: address| name)?:? )?${name}`, 'gi'),
  new RegExp(String.raw`\bgetaddrinfo (?:ENOTFOUND|EAI_AGAIN) ${name}`, 'g'),
  new RegExp(
    String.raw`^\w+: ${name}: (?:Temporary failure in name resolution|Name or service not known)`,
    'gm',
  ),
];

/** The last one that the output names, with its port where it does. */
function hostIn(output: string): string | undefined {
  const found = hostPatterns.flatMap((pattern) => [...output.matchAll(pattern)]);
  const [, host, port] = found.sort((a, b) => a.index - b.index).at(-1) ?? [];
  return host === undefined || port === undefined ? host : `${host}:${port}`;
}
