/** What one command, with everything that it starts, may use up. Absent: no limit. */
export interface ResourceLimits {
  /** Processes and threads at once. */
  readonly processes?: number;
  /** Private writable memory of each process, in MiB; in a cgroup, where one can be made, of all together. */
  readonly memoryMiB?: number;
  /** Size of a single file that is written, in MiB. */
  readonly fileSizeMiB?: number;
  /** Computing time of each process, in seconds. */
  readonly cpuSeconds?: number;
}
