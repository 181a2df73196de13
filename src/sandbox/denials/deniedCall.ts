/** A system call of a command that the launcher's filter has refused, as the kernel reported it. */
export interface DeniedCall {
  /** The kernel's name for it. */
  readonly call: string;
  /** The family of a `socket`, the request of an `ioctl`; 0 for other calls. */
  readonly detail: number;
}
