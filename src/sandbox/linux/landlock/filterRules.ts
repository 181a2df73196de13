import type { NetworkMode } from '../../policy/policy.ts';
import type { Rule } from '../seccomp/rules.ts';
import { sandboxRules } from '../seccomp/rules.ts';

/** The first number after the calls that were looked at for these rules (Linux 6.17). */
export const firstUnknownCall = 470;

const socketFamilies = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const routeProtocol = 0;

// linux/resource.h, linux/ioprio.h
const priorityOfUser = 2;
const ioPriorityOfUser = 3;

/** The second byte of ioctl requests of terminals, which pipes and files share (FIONREAD, FIOCLEX), and of sockets. */
const ioctlKind = 0xff00;
const terminalIoctls = 0x5400;
const socketIoctls = 0x8900;

/**
 * What Landlock does not look at and what namespaces would have kept apart: metadata of files, names in folders that
 * cannot be listed, the machine's shared memory and queues, and the limits and priorities of other processes.
 * Nothing is writable under this launcher, so that nothing is lost with the calls that change metadata.
 */
const withoutNamespaces: readonly Rule[] = [
  {
    name: 'metadata',
    calls: [
      ...(['chmod', 'fchmod', 'fchmodat', 'fchmodat2', 'chown', 'fchown', 'lchown', 'fchownat'] as const),
      ...(['utime', 'utimes', 'futimesat', 'utimensat', 'setxattr', 'lsetxattr', 'fsetxattr'] as const),
      ...(['removexattr', 'lremovexattr', 'fremovexattr', 'setxattrat', 'removexattrat'] as const),
      'file_setattr',
    ],
    refusal: 'EPERM',
  },
  {
    // EOPNOTSUPP: `ls -l` asks every file for its access list and goes on.
    name: 'extended attributes by path',
    calls: ['getxattr', 'lgetxattr', 'listxattr', 'llistxattr', 'getxattrat', 'listxattrat'],
    refusal: 'EOPNOTSUPP',
  },
  // They tell the names of what changes in folders that may not be listed.
  { name: 'watching', calls: ['inotify_add_watch', 'fanotify_init'], refusal: 'EPERM' },
  {
    name: 'shared memory and queues',
    calls: [
      ...(['shmget', 'shmat', 'shmctl', 'semget', 'semop', 'semtimedop', 'semctl'] as const),
      ...(['msgget', 'msgsnd', 'msgrcv', 'msgctl', 'mq_open', 'mq_unlink'] as const),
    ],
    refusal: 'EPERM',
  },
  {
    // Only of the calling process: every process of the person would be within reach.
    name: 'limits of others',
    calls: ['prlimit64', 'sched_setparam', 'sched_setscheduler', 'sched_setattr', 'sched_setaffinity'],
    when: [{ argument: 0, is: 'not-equal', value: 0 }],
    refusal: 'EPERM',
  },
  {
    name: 'priorities of others',
    calls: ['setpriority', 'ioprio_set'],
    when: [{ argument: 1, is: 'not-equal', value: 0 }],
    refusal: 'EPERM',
  },
  {
    name: 'priorities of others',
    calls: ['setpriority'],
    when: [{ argument: 0, is: 'equal', value: priorityOfUser }],
    refusal: 'EPERM',
  },
  {
    name: 'priorities of others',
    calls: ['ioprio_set'],
    when: [{ argument: 0, is: 'equal', value: ioPriorityOfUser }],
    refusal: 'EPERM',
  },
  {
    // A datagram socket of a pair can still be sent to any address; SOCK_DGRAM and SOCK_RAW share this bit.
    name: 'datagram pairs',
    calls: ['socketpair'],
    when: [{ argument: 1, is: 'any-bit', value: 2 }],
    refusal: 'EOPNOTSUPP',
  },
  {
    name: 'pairs of other families',
    calls: ['socketpair'],
    when: [{ argument: 0, is: 'not-equal', value: socketFamilies.unix }],
    refusal: 'EAFNOSUPPORT',
  },
];

/**
 * No socket at all with the network off, its own loopback included. With the network on no Unix sockets: Landlock
 * cannot tell a service of the machine from one of the command's own.
 */
const networkRules: Readonly<Record<Exclude<NetworkMode, 'allow-list'>, readonly Rule[]>> = {
  off: [
    { name: 'sockets', calls: ['socket'], refusal: 'EAFNOSUPPORT' },
    { name: 'sockets', calls: ['connect', 'bind', 'listen'], refusal: 'EPERM' },
    {
      // Files have requests of their own that change them through a descriptor that may only read.
      name: 'ioctls of files',
      calls: ['ioctl'],
      when: [{ argument: 1, is: 'not-equal', mask: ioctlKind, value: terminalIoctls }],
      refusal: 'ENOTTY',
    },
  ],
  on: [
    {
      name: 'sockets',
      calls: ['socket'],
      when: [
        { argument: 0, is: 'not-equal', value: socketFamilies.inet },
        { argument: 0, is: 'not-equal', value: socketFamilies.inet6 },
        { argument: 0, is: 'not-equal', value: socketFamilies.netlink },
      ],
      refusal: 'EAFNOSUPPORT',
    },
    {
      name: 'netlink other than route',
      calls: ['socket'],
      when: [
        { argument: 0, is: 'equal', value: socketFamilies.netlink },
        { argument: 2, is: 'not-equal', value: routeProtocol },
      ],
      refusal: 'EAFNOSUPPORT',
    },
    {
      name: 'ioctls of files',
      calls: ['ioctl'],
      when: [
        { argument: 1, is: 'not-equal', mask: ioctlKind, value: terminalIoctls },
        { argument: 1, is: 'not-equal', mask: ioctlKind, value: socketIoctls },
      ],
      refusal: 'ENOTTY',
    },
  ],
};

/** Their place is taken by stricter ones, and there is no process 1 of the command's own. */
const replaced: ReadonlySet<string> = new Set(['socket families', 'netlink other than route', 'process 1']);

/** The seccomp rules under Landlock, stricter than those under namespaces. */
export function landlockRules(network: Exclude<NetworkMode, 'allow-list'>): readonly Rule[] {
  return [
    ...sandboxRules.filter(({ name }) => !replaced.has(name)),
    ...withoutNamespaces,
    ...networkRules[network],
  ];
}
