/** A processor architecture as seccomp sees it, with the numbers of the calls that rules name. */
export interface Architecture {
  readonly name: 'x86-64' | 'arm64';
  /** `AUDIT_ARCH_*` of linux/audit.h. */
  readonly auditNumber: number;
  /** Calls from here on belong to another ABI of the same processor (x32). */
  readonly otherAbiFrom?: number;
  readonly calls: Readonly<Partial<Record<CallName, number>>>;
}

// From arch/x86/entry/syscalls/syscall_64.tbl; left out on arm64 means that arm64 never had the call.
const x64Calls = {
  acct: 163,
  add_key: 248,
  bpf: 321,
  clock_settime: 227,
  clone: 56,
  clone3: 435,
  delete_module: 176,
  finit_module: 313,
  fsconfig: 431,
  fsmount: 432,
  fsopen: 430,
  fspick: 433,
  init_module: 175,
  io_uring_enter: 426,
  io_uring_register: 427,
  io_uring_setup: 425,
  ioctl: 16,
  ioperm: 173,
  iopl: 172,
  kexec_file_load: 320,
  kexec_load: 246,
  keyctl: 250,
  mount: 165,
  mount_setattr: 442,
  move_mount: 429,
  open_by_handle_at: 304,
  open_tree: 428,
  open_tree_attr: 467,
  perf_event_open: 298,
  pivot_root: 155,
  process_vm_readv: 310,
  process_vm_writev: 311,
  ptrace: 101,
  quotactl: 179,
  quotactl_fd: 443,
  reboot: 169,
  request_key: 249,
  setns: 308,
  settimeofday: 164,
  socket: 41,
  swapoff: 168,
  swapon: 167,
  umount2: 166,
  unshare: 272,
  userfaultfd: 323,
} as const;

export type CallName = keyof typeof x64Calls;

export const x64: Architecture = {
  name: 'x86-64',
  auditNumber: 0xc000003e,
  otherAbiFrom: 0x4000_0000,
  calls: x64Calls,
};

// From include/uapi/asm-generic/unistd.h.
export const arm64: Architecture = {
  name: 'arm64',
  auditNumber: 0xc00000b7,
  calls: {
    acct: 89,
    add_key: 217,
    bpf: 280,
    clock_settime: 112,
    clone: 220,
    clone3: 435,
    delete_module: 106,
    finit_module: 273,
    fsconfig: 431,
    fsmount: 432,
    fsopen: 430,
    fspick: 433,
    init_module: 105,
    io_uring_enter: 426,
    io_uring_register: 427,
    io_uring_setup: 425,
    ioctl: 29,
    kexec_file_load: 294,
    kexec_load: 104,
    keyctl: 219,
    mount: 40,
    mount_setattr: 442,
    move_mount: 429,
    open_by_handle_at: 265,
    open_tree: 428,
    open_tree_attr: 467,
    perf_event_open: 241,
    pivot_root: 41,
    process_vm_readv: 270,
    process_vm_writev: 271,
    ptrace: 117,
    quotactl: 60,
    quotactl_fd: 443,
    reboot: 142,
    request_key: 218,
    setns: 268,
    settimeofday: 170,
    socket: 198,
    swapoff: 225,
    swapon: 224,
    umount2: 39,
    unshare: 97,
    userfaultfd: 282,
  },
};
