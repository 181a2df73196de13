import type { Denial } from './denial.ts';
import type { DeniedCall } from './deniedCall.ts';

/** What the filter has refused: certain, whatever the program made of it. */
export function describeCalls(calls: readonly DeniedCall[]): readonly Denial[] {
  return calls.map(({ call, detail }) => ({
    certainty: 'known',
    call,
    message: `The sandbox refused the system call ${wordsOf(call, detail)}.`,
    hint: 'No setting opens it to confined commands. If the command needs it, ask the user to run it without a sandbox.',
  }));
}

function wordsOf(call: string, detail: number): string {
  if (call === 'socket') {
    return `socket for ${families[detail] ?? `address family ${detail}`}`;
  }
  if (call === 'ioctl') {
    return `ioctl with ${requests[detail] ?? `request ${detail}`}`;
  }
  const purpose = purposes[call];
  return purpose === undefined ? call : `${call} (${purpose})`;
}

/** linux/socket.h */
const families: Readonly<Record<number, string>> = {
  16: 'netlink other than routing (AF_NETLINK)',
  17: 'raw packets (AF_PACKET)',
  29: 'CAN buses (AF_CAN)',
  31: 'Bluetooth (AF_BLUETOOTH)',
  38: 'cryptography of the kernel (AF_ALG)',
  40: 'virtual machines (AF_VSOCK)',
  44: 'express data paths (AF_XDP)',
};

/** asm-generic/ioctls.h */
const requests: Readonly<Record<number, string>> = {
  0x5412: 'typing into the terminal (TIOCSTI)',
  0x541c: 'the console (TIOCLINUX)',
};

const purposes: Readonly<Record<string, string>> = {
  bpf: 'programs in the kernel',
  clone: 'a process in new namespaces',
  mount: 'mounting',
  perf_event_open: 'performance counters',
  personality: 'weaker protection of memory',
  pivot_root: 'another root folder',
  process_vm_readv: "memory of the sandbox's first process",
  process_vm_writev: "memory of the sandbox's first process",
  ptrace: "debugging the sandbox's first process",
  setns: 'joining namespaces',
  umount2: 'unmounting',
  unshare: 'new namespaces',
};
