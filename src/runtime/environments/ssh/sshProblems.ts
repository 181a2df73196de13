import type { EnvironmentError } from '../environment.ts';
import type { HostProblem } from './hostWords.ts';
import { oldestNode } from './hostWords.ts';
import type { SshSettings } from './sshSettings.ts';

/** What ssh itself says when there is no connection, first match first. */
const complaints: readonly (readonly [
  RegExp,
  (host: string) => Pick<EnvironmentError, 'kind' | 'message' | 'hint'>,
])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|HOST KEY.*CHANGED|host key .* has changed/i,
    (host) => ({
      kind: 'wrong-key',
      message: `${host} shows another host key than the one that ssh knows: it is another machine, or somebody stands between.`,
      hint: `Find out why. If the machine was set up anew, remove the old key with "ssh-keygen -R ${host}" and connect once in a terminal.`,
    }),
  ],
  [
    /Host key verification failed|No \S+ host key is known/i,
    (host) => ({
      kind: 'wrong-key',
      message: `ssh does not know the host key of ${host}.`,
      hint: `Connect once in a terminal with "ssh ${host}", compare the fingerprint, and accept it.`,
    }),
  ],
  [
    /Permission denied|Too many authentication failures|No more authentication methods/i,
    (host) => ({
      kind: 'refused',
      message: `${host} refuses the login.`,
      hint: `Make "ssh -o BatchMode=yes ${host}" work in a terminal: no password can be typed here, so it takes a key, and an agent when the key has a passphrase.`,
    }),
  ],
  [
    /Could not resolve hostname|Name or service not known/i,
    (host) => ({
      kind: 'unreachable',
      message: `There is no host ${host}.`,
      hint: 'Correct "host" in the setting cordon.environments; it is a name of your ssh configuration, or user@host.',
    }),
  ],
  [
    /Bad configuration option|Bad owner or permissions|terminating, \d+ bad configuration/i,
    () => ({
      kind: 'invalid-settings',
      message: 'ssh does not accept its configuration.',
      hint: 'Correct the file that it names.',
    }),
  ],
];

/** Why ssh ended before anything of ours spoke. */
export function whyNoConnection(host: string, stderr: string): EnvironmentError {
  const [, describe] = complaints.find(([pattern]) => pattern.test(stderr)) ?? [];
  const last = lastLine(stderr);
  const error = describe?.(host) ?? {
    kind: 'unreachable' as const,
    message: `${host} cannot be reached.`,
    hint: `Check that "ssh -o BatchMode=yes ${host} sh -c true" works in a terminal.`,
  };
  return last === '' ? error : { ...error, message: `${error.message} ssh says: ${last}` };
}

/** What the program on the host could not do. */
export function whyNoServer(
  { host, nodePath, installFolder }: SshSettings,
  problem: HostProblem,
  detail: string,
): EnvironmentError {
  switch (problem) {
    case 'no-node':
      return {
        kind: 'not-installed',
        message:
          nodePath === undefined
            ? `${host} has no node on the search path that ssh gives to commands.`
            : `${host} has no program ${nodePath}.`,
        hint: `Install Node there (${oldestNode}), or name it in "nodePath" of the environment.`,
      };
    case 'old-node':
      return {
        kind: 'wrong-version',
        message: `${host} has Node ${detail}, and the server needs ${oldestNode}.`,
        hint: 'Install a newer Node there, or name one in "nodePath" of the environment.',
      };
    case 'platform':
      return {
        kind: 'not-installed',
        message: `${host} is ${detail}, and this build of Cordon has no programs for that.`,
        hint: 'Start "cordon exec-server" of a build for that machine there, and add it as an environment of type "url".',
      };
    case 'install-folder':
      return {
        kind: 'not-installed',
        message: `The server cannot be installed on ${host}: ${detail}.`,
        hint: `Make the folder yours alone and writable${installFolder === undefined ? ', or name another one in "installFolder" of the environment' : ''}.`,
      };
    case 'upload':
      return {
        kind: 'not-installed',
        message: `The server did not arrive on ${host} as it was sent: ${detail}.`,
        hint: 'Try again.',
      };
    case 'server':
      return {
        kind: 'unreachable',
        message: `The server on ${host} does not start: ${detail}`,
        hint: 'Correct what it names, and try again.',
      };
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
