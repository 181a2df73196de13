import type { LauncherName } from '../sandboxManager.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import type { Grounds } from './grounds.ts';

/** What the companion's `--probe` is asked: the name of an attempt and its argument. */
export type Attempt = readonly [name: string, argument?: string];

/** One promise of the sandbox, tried for real: an attempt that must be refused, and one like it that must work. */
export interface Probe {
  readonly name: string;
  /** What it means that the attempt was refused. */
  readonly proves: string;
  /** Why there is nothing to try under this policy and launcher; undefined when there is. */
  readonly skip?: (context: ProbeContext) => string | undefined;
  readonly attack: (context: ProbeContext) => Attempt;
  /** The only error that counts, where the kernel refuses for other reasons, too. */
  readonly refusedWith?: number;
  readonly counterpart?: (context: ProbeContext) => Attempt | undefined;
  /** How the launcher is treated; by default it just runs. `descriptor`: it inherits one. `killed`: see there. */
  readonly how?: 'descriptor' | 'killed';
}

export interface ProbeContext {
  readonly policy: SandboxPolicy;
  readonly launcher: LauncherName;
  readonly grounds: Grounds;
}

/** The descriptor that a launcher inherits for the probe of descriptors: high, past what Node closes by itself. */
export const inheritedDescriptor = 9;
/** Looks like a secret, and is none. */
export const secretName = 'CORDON_SELF_TEST_TOKEN';

// asm-generic/errno-base.h
const notPermitted = 1;

const hasNamespaces = ({ launcher }: ProbeContext): boolean => launcher === 'bubblewrap';

export const probes: readonly Probe[] = [
  {
    name: 'Write outside',
    proves: 'commands change no file that the policy does not make writable',
    attack: ({ grounds }) => ['write', grounds.outsideFile],
    counterpart: ({ policy, grounds }) =>
      policy.mode === 'workspace-write' ? ['create', grounds.insideFile] : ['list', policy.root],
  },
  {
    name: 'Change permissions outside',
    proves: 'commands change no mode, owner or time stamp outside of the writable folders',
    attack: ({ grounds }) => ['chmod', grounds.outsideFile],
  },
  {
    name: 'Read what is hidden',
    proves: 'what the policy hides can be neither listed nor read',
    skip: ({ grounds }) =>
      grounds.hidden === undefined ? 'the policy hides nothing that is there' : undefined,
    attack: ({ grounds }) => [
      grounds.hidden?.kind === 'folder' ? 'list' : 'read',
      grounds.hidden?.path ?? '',
    ],
    counterpart: ({ policy }) => ['list', policy.root],
  },
  {
    name: 'Make or change protected metadata',
    proves: '.git, .vscode and their like in a writable folder stay as they are',
    attack: ({ grounds }) => ['make-folder', grounds.protectedPath],
  },
  {
    name: 'Look into the machine’s /tmp',
    proves: 'temporary files of other programs are out of reach',
    skip: ({ policy }) => (policy.tmp === 'shared' ? 'the policy shares /tmp' : undefined),
    attack: ({ grounds }) => ['read', grounds.temporaryFile],
    counterpart: (context) => (hasNamespaces(context) ? ['create', '/tmp/cordon-self-test'] : undefined),
  },
  {
    name: 'Connect to a server on the machine’s loopback',
    proves: 'services that listen on this machine are out of reach',
    skip: ({ policy }) => (policy.network === 'on' ? 'the policy has the network on' : undefined),
    attack: ({ grounds }) => ['connect', String(grounds.port)],
    counterpart: (context) => (hasNamespaces(context) ? ['own-loopback'] : undefined),
  },
  {
    name: 'Connect to a Unix socket of the machine',
    proves: 'container engines, agents for keys, and the desktop are out of reach',
    attack: ({ grounds }) => ['unix', grounds.socketPath],
    counterpart: (context) =>
      hasNamespaces(context) && context.policy.tmp === 'private'
        ? ['own-unix', '/tmp/cordon-self-test.sock']
        : undefined,
  },
  {
    name: 'Connect to an abstract Unix socket',
    proves: 'services without a path, like X11, are out of reach',
    attack: ({ grounds }) => ['abstract', grounds.abstractName],
  },
  {
    name: 'Signal another process',
    proves: 'commands can end or stop nothing that they did not start',
    attack: ({ grounds }) => ['signal', String(grounds.victim)],
    counterpart: () => ['own-signal'],
  },
  {
    name: 'See another process',
    proves: 'command lines and environments of other programs cannot be read',
    attack: ({ grounds }) => ['read', `/proc/${grounds.victim}/cmdline`],
    counterpart: () => ['read', '/proc/version'],
  },
  {
    name: 'Trace another process',
    proves: 'commands take over no program that they did not start',
    attack: ({ grounds }) => ['trace', String(grounds.victim)],
    counterpart: () => ['own-trace'],
  },
  {
    name: 'Change a setting of the kernel',
    proves: 'not even root in the sandbox changes the machine through /proc',
    attack: () => ['write', '/proc/sys/kernel/core_pattern'],
    counterpart: () => ['read', '/proc/sys/kernel/osrelease'],
  },
  {
    name: 'Mount',
    proves: 'what the sandbox shows cannot be rearranged from inside',
    attack: () => ['mount'],
  },
  {
    name: 'Make a user namespace',
    proves: 'commands cannot become root of a world of their own to attack the kernel',
    attack: () => ['user-namespace'],
  },
  {
    name: 'Hold a capability',
    proves: 'commands have no rights of root, even as root',
    attack: () => ['capabilities'],
  },
  {
    name: 'Use the kernel’s keyring',
    proves: 'keys of the session are out of reach',
    attack: () => ['keys'],
  },
  {
    name: 'Use io_uring',
    proves: 'there is no second road around the filter of system calls',
    attack: () => ['io-uring'],
  },
  {
    name: 'Use userfaultfd',
    proves: 'a favourite tool of kernel exploits is missing',
    attack: () => ['userfaultfd'],
  },
  {
    name: 'Type into the terminal',
    proves: 'commands put no words into the mouth of whoever uses the terminal',
    attack: () => ['tiocsti'],
    refusedWith: notPermitted,
  },
  {
    name: 'Use an inherited descriptor',
    proves: 'nothing that the editor has open leaks into commands',
    attack: () => ['descriptor', String(inheritedDescriptor)],
    counterpart: () => ['descriptor', '1'],
    how: 'descriptor',
  },
  {
    name: 'Read a secret from the environment',
    proves: 'tokens in the editor’s environment do not reach commands',
    skip: ({ policy: { environment } }) =>
      environment.ignoreDefaultExcludes && environment.inherit === 'all'
        ? 'the policy lets secrets through'
        : undefined,
    attack: () => ['variable', secretName],
    counterpart: () => ['variable', 'PATH'],
  },
  {
    name: 'Outlive the launcher',
    proves: 'whatever ends Cordon ends its commands, background processes included',
    attack: () => ['outlive'],
    how: 'killed',
  },
];
