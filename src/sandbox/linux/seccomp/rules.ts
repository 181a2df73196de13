import type { CallName } from './architectures.ts';

/** What happens to a call that a rule matches. */
export type Refusal = 'EPERM' | 'ENOTTY' | 'ENOSYS' | 'EOPNOTSUPP' | 'EAFNOSUPPORT';

/**
 * A test on the low 32 bits of one argument. The kernel ignores the high half of ioctl requests, pids and flags,
 * so a filter that compared all 64 bits could be walked around by setting one of them.
 */
export interface ArgumentTest {
  readonly argument: 0 | 1 | 2 | 3 | 4 | 5;
  readonly is: 'equal' | 'not-equal' | 'any-bit';
  readonly value: number;
  /** Only these bits of the argument count. */
  readonly mask?: number;
}

/** Refuses the calls, or, with `when`, those whose arguments pass every test. */
export interface Rule {
  readonly name: string;
  readonly calls: readonly CallName[];
  readonly when?: readonly ArgumentTest[];
  readonly refusal: Refusal;
}

// linux/sched.h: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
const newNamespaces = 0x7e02_0000;
// Only unshare(2) takes it; in clone(2) the bit is part of the exit signal.
const newTimeNamespace = 0x80;
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const routeProtocol = 0;
// linux/personality.h: memory that is read becomes executable, page 0 can be mapped.
const weakerMemory = 0x0040_0000 | 0x0010_0000;
/** Process 1 of the sandbox: the one process in there that was started by Cordon. */
const initPid = 1;

/**
 * What no command needs and an attacker likes: calls that reach past namespaces (keys, handles, io_uring's own
 * road around filters, the terminal's input queue) or open much kernel code to unprivileged callers.
 * `shutdown`, `getsockopt`, `connect` and `bind` stay: isolation of the network comes from its namespace, and
 * without them Node's `spawnSync` and every server of one's own fail.
 */
export const sandboxRules: readonly Rule[] = [
  { name: 'keys', calls: ['keyctl', 'add_key', 'request_key'], refusal: 'EPERM' },
  { name: 'kernel surface', calls: ['userfaultfd', 'bpf', 'perf_event_open'], refusal: 'EPERM' },
  // ENOSYS lets runtimes that probe for it go on with epoll.
  { name: 'io_uring', calls: ['io_uring_setup', 'io_uring_enter', 'io_uring_register'], refusal: 'ENOSYS' },
  {
    name: 'mounts',
    calls: [
      'mount',
      'umount2',
      'pivot_root',
      'move_mount',
      'open_tree',
      'open_tree_attr',
      'fsopen',
      'fsconfig',
      'fsmount',
      'fspick',
      'mount_setattr',
    ],
    refusal: 'EPERM',
  },
  { name: 'joining namespaces', calls: ['setns'], refusal: 'EPERM' },
  {
    name: 'new namespaces',
    calls: ['unshare'],
    when: [{ argument: 0, is: 'any-bit', value: newNamespaces | newTimeNamespace }],
    refusal: 'EPERM',
  },
  {
    name: 'new namespaces',
    calls: ['clone'],
    when: [{ argument: 0, is: 'any-bit', value: newNamespaces }],
    refusal: 'EPERM',
  },
  // Its flags lie in memory, where a filter cannot look; libraries fall back to clone.
  { name: 'clone3', calls: ['clone3'], refusal: 'ENOSYS' },
  { name: 'another kernel', calls: ['kexec_load', 'kexec_file_load', 'reboot'], refusal: 'EPERM' },
  { name: 'kernel modules', calls: ['init_module', 'finit_module', 'delete_module'], refusal: 'EPERM' },
  { name: 'clock', calls: ['clock_settime', 'settimeofday'], refusal: 'EPERM' },
  {
    name: 'machine settings',
    calls: ['swapon', 'swapoff', 'acct', 'quotactl', 'quotactl_fd', 'iopl', 'ioperm'],
    refusal: 'EPERM',
  },
  { name: 'file handles', calls: ['open_by_handle_at'], refusal: 'EPERM' },
  // Only profilers of the kernel and checkpoints of processes need them; both tell about objects of the kernel.
  { name: 'kernel addresses', calls: ['lookup_dcookie', 'kcmp'], refusal: 'EPERM' },
  // Debuggers turn address randomisation off for their child; that stays.
  {
    name: 'weaker memory protection',
    calls: ['personality'],
    when: [
      { argument: 0, is: 'not-equal', value: 0xffff_ffff },
      { argument: 0, is: 'any-bit', value: weakerMemory },
    ],
    refusal: 'EPERM',
  },
  {
    name: 'process 1',
    calls: ['process_vm_readv', 'process_vm_writev'],
    when: [{ argument: 0, is: 'equal', value: initPid }],
    refusal: 'EPERM',
  },
  {
    name: 'process 1',
    calls: ['ptrace'],
    when: [{ argument: 1, is: 'equal', value: initPid }],
    refusal: 'EPERM',
  },
  {
    name: 'TIOCSTI',
    calls: ['ioctl'],
    when: [{ argument: 1, is: 'equal', value: 0x5412 }],
    refusal: 'EPERM',
  },
  {
    name: 'TIOCLINUX',
    calls: ['ioctl'],
    when: [{ argument: 1, is: 'equal', value: 0x541c }],
    refusal: 'EPERM',
  },
  {
    name: 'socket families',
    calls: ['socket'],
    when: [
      { argument: 0, is: 'not-equal', value: families.unix },
      { argument: 0, is: 'not-equal', value: families.inet },
      { argument: 0, is: 'not-equal', value: families.inet6 },
      { argument: 0, is: 'not-equal', value: families.netlink },
    ],
    refusal: 'EAFNOSUPPORT',
  },
  {
    name: 'netlink other than route',
    calls: ['socket'],
    when: [
      { argument: 0, is: 'equal', value: families.netlink },
      { argument: 2, is: 'not-equal', value: routeProtocol },
    ],
    refusal: 'EAFNOSUPPORT',
  },
];
