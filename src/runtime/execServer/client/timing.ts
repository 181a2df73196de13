/** How long the client waits for what, in milliseconds. */
export interface ClientTiming {
  /** Between two attempts to come back; up to a quarter more, so that clients do not come in step. */
  readonly retryMs: number;
  /** How long it tries to come back. The server keeps the session for longer (80 s). */
  readonly recoveryMs: number;
  /** One attempt: to connect and to shake hands. */
  readonly attemptMs: number;
  /** Silence after which the server is asked for a sign of life. */
  readonly probeAfterMs: number;
  /** How long nothing at all may come after that question. */
  readonly patienceMs: number;
  /** The same for a server that does one thing after the other, with other requests before the question. */
  readonly serialPatienceMs: number;
  /** How long a missing event of a process may be on its way before it is fetched. */
  readonly repairMs: number;
  /** How long output may follow an exit. */
  readonly drainMs: number;
  /** Silence of a process after which is looked whether its events got lost. */
  readonly quietMs: number;
}

/** Of the reference where it says something. */
export const defaultTiming: ClientTiming = {
  retryMs: 100,
  recoveryMs: 45_000,
  attemptMs: 10_000,
  probeAfterMs: 15_000,
  patienceMs: 15_000,
  serialPatienceMs: 90_000,
  repairMs: 250,
  drainMs: 2_000,
  quietMs: 15_000,
};
