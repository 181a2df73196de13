import type { Limit } from '../../select/launchers.ts';

/** What Landlock cannot express. Everything else it enforces exactly; see {@link landlockLosses} for the price. */
export const landlockLimits: readonly Limit[] = [
  {
    clause: 'mode',
    applies: ({ files }) => files.some(({ access }) => access === 'write'),
    reason:
      'Landlock cannot keep .git, .vscode and other protected names in a writable folder from being changed or made',
    nearest: 'set cordon.sandbox.mode to "read-only"',
  },
  {
    clause: 'network',
    applies: ({ network }) => network === 'allow-list',
    reason: 'Landlock knows ports but no hosts, and cannot make connections pass the proxy that does',
    nearest: 'set cordon.sandbox.network to "off"',
  },
  {
    clause: 'sockets',
    applies: ({ sockets }) => sockets.length > 0,
    reason: 'Landlock cannot open one Unix socket of the machine and keep the others closed',
    nearest: 'leave cordon.sandbox.sockets empty',
  },
  {
    clause: 'limits',
    // A limit that nobody asked for gives way, as under bubblewrap without a control group.
    applies: ({ limits, sources }, { isRoot }) =>
      isRoot && limits.processes !== undefined && sources.limits !== 'default',
    reason: 'without a namespace of its own the kernel sets root no limit of processes',
    nearest: 'run as an ordinary user, or take processes out of cordon.sandbox.limits',
  },
];

export const landlockWeaknesses: readonly string[] = [
  'A command can find out whether a path exists that it guesses, its size, owner and times, and where a link leads, even where it may read nothing.',
  'A file that comes to match a hidden pattern in a readable folder after the start can be read.',
  'A command can find out which process numbers are in use.',
];

export const landlockLosses: readonly string[] = [
  'no folder for temporary files; caches of package managers are not writable',
  'no servers on an own loopback with the network off, and no Unix sockets at all',
  'no watching of files for changes, no shared memory or queues of System V and POSIX',
  'nothing of /proc/self, so that debuggers and some runtimes tell less',
  'no pseudoterminals of its own (script, tmux)',
  'folders that contain something hidden cannot be listed, and what is made in them after the start cannot be read',
];
