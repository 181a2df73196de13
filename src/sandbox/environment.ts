import picomatch from 'picomatch';
import { proxyNames, proxyVariables } from './network/proxyVariables.ts';

/** Which variables a command gets, in the terms of the exec-server protocol. */
export interface EnvironmentPolicy {
  /** Where to start: everything, a short list of names that programs rely on, or nothing. */
  readonly inherit: 'all' | 'core' | 'none';
  /** True keeps names that look like secrets (`*KEY*`, `*SECRET*`, `*TOKEN*`). */
  readonly ignoreDefaultExcludes: boolean;
  /** Names to drop; globs, case-insensitive. */
  readonly exclude: readonly string[];
  readonly set: Readonly<Record<string, string>>;
  /** When not empty, only these names stay; globs, case-insensitive; filters `set`, too. */
  readonly includeOnly: readonly string[];
}

export const defaultEnvironmentPolicy: EnvironmentPolicy = {
  inherit: 'core',
  ignoreDefaultExcludes: false,
  exclude: [],
  set: {},
  includeOnly: [],
};

export interface ChildEnvironmentInput {
  readonly policy: EnvironmentPolicy;
  /** The environment of the process that starts the command. */
  readonly parent: Readonly<Record<string, string | undefined>>;
  /** What the caller of the tool asked for; never filtered, except for the dynamic loader's variables. */
  readonly request?: Readonly<Record<string, string>>;
  readonly isTty: boolean;
  readonly isNetworkOff: boolean;
  /** The network is reached through Cordon's proxy only. */
  readonly isProxied?: boolean;
  /** Value of the marker `CORDON_SANDBOX`, for scripts that must know; absent when nothing is confined. */
  readonly marker?: string;
  /** The command's `/tmp` is its own, so `TMPDIR` must not point anywhere else. */
  readonly isTmpPrivate?: boolean;
}

/** What programs rely on, in capital letters. */
export const coreVariables: ReadonlySet<string> = new Set([
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TEMP',
  'TMP',
  'TMPDIR',
  'USER',
]);

/** Globs of names that say that the value is a secret. */
export const secretNames = ['*KEY*', '*SECRET*', '*TOKEN*'];

/** Whether a variable's name says that its value is a secret. */
export const isSecretVariable = matchesName(secretNames);

/** These load code into every program they reach, the launcher included; nobody may set them through Cordon. */
export const loaderNames: readonly string[] = ['LD_*', 'DYLD_*'];
export const isLoaderVariable = matchesName(loaderNames);

/**
 * Variables through which the editor's own start-up leaks code or doors into a command: options and start files of
 * interpreters and git, and the sockets of the desktop and of key agents. A policy that sets them means it.
 */
export const inheritedHazards: readonly string[] = [
  ...['NODE_OPTIONS', 'ELECTRON_RUN_AS_NODE', 'BASH_ENV', 'ENV', 'PYTHONSTARTUP'],
  ...['PERL5OPT', 'PERL5DB', 'RUBYOPT', 'JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS'],
  ...['GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_EXTERNAL_DIFF', 'GIT_PROXY_COMMAND'],
  ...['GIT_CONFIG*', 'GIT_EXEC_PATH', 'GIT_TEMPLATE_DIR', 'VSCODE_*', 'GCONV_PATH', 'BASH_FUNC_*'],
  ...[
    'SSH_AUTH_SOCK',
    'SSH_AGENT_PID',
    'GPG_AGENT_INFO',
    'DBUS_SESSION_BUS_ADDRESS',
    'DBUS_SYSTEM_BUS_ADDRESS',
  ],
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'PULSE_SERVER', 'DOCKER_HOST'],
];

/**
 * The whole environment of a command: the six steps of the exec-server protocol (inherit, secrets, `exclude`, `set`,
 * `includeOnly`, request), without what would load code or open doors, and with what keeps a command from waiting
 * for a pager, an editor or a password that nobody sees.
 */
export function childEnvironment(input: ChildEnvironmentInput): Record<string, string> {
  const { policy } = input;
  const dropped = matchesName([
    ...inheritedHazards,
    ...(input.isProxied === true ? proxyNames : []),
    ...(policy.ignoreDefaultExcludes ? [] : secretNames),
    ...policy.exclude,
  ]);
  const inherited = inheritable(input).filter(([name]) => !dropped(name));
  const stays = policy.includeOnly.length === 0 ? () => true : matchesName(policy.includeOnly);
  const kept = pick(Object.fromEntries(inherited), stays);
  const set = pick(policy.set, stays);
  // What a person set or a caller asked for outranks Cordon's own suggestions; the markers tell the truth.
  const merged = {
    ...kept,
    ...suggestions({ ...kept, ...set, ...input.request }, input.isTty),
    ...(input.isProxied === true ? proxyVariables : {}),
    ...set,
    ...input.request,
    ...markers(input),
  };
  return Object.fromEntries(Object.entries(merged).filter(([name]) => !isLoaderVariable(name)));
}

function inheritable({ policy, parent }: ChildEnvironmentInput): [string, string][] {
  if (policy.inherit === 'none') {
    return [];
  }
  return Object.entries(parent).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (policy.inherit === 'all' || coreVariables.has(entry[0].toUpperCase())),
  );
}

function suggestions(current: Readonly<Record<string, string>>, isTty: boolean): Record<string, string> {
  return {
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GH_PAGER: 'cat',
    ...(hasUtf8Locale(current) ? {} : { LANG: 'C.UTF-8', LC_CTYPE: 'C.UTF-8', LC_ALL: 'C.UTF-8' }),
    ...(isTty
      ? { TERM: 'xterm-256color' }
      : { NO_COLOR: '1', TERM: 'dumb', COLORTERM: '', GIT_EDITOR: 'true', GIT_TERMINAL_PROMPT: '0' }),
  };
}

/** The first of the three that is set and not empty decides, as setlocale(3) has it. */
function hasUtf8Locale(environment: Readonly<Record<string, string>>): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  return /utf-?8/i.test(locale);
}

function markers({ marker, isNetworkOff, isTmpPrivate }: ChildEnvironmentInput): Record<string, string> {
  return {
    ...(marker === undefined ? {} : { CORDON_SANDBOX: marker }),
    ...(isNetworkOff ? { CORDON_SANDBOX_NETWORK_DISABLED: '1' } : {}),
    ...(isTmpPrivate === true ? { TMPDIR: '/tmp' } : {}),
  };
}

function pick(
  variables: Readonly<Record<string, string>>,
  stays: (name: string) => boolean,
): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => stays(name)));
}

/** Whether a name matches one of some globs, in whatever case. */
export function matchesName(globs: readonly string[]): (name: string) => boolean {
  return picomatch([...globs], { nocase: true, dot: true, nonegate: true });
}
