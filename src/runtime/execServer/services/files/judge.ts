/**
 * Says no to what a policy refuses by name: throws an `RpcError`. Paths are canonical: where the call really leads,
 * found by what it holds, so that nobody can swap a link in between.
 */
export interface Judge {
  read(path: string): void;
  write(path: string): void;
}

/** Of calls without a sandbox. */
export const noJudge: Judge = { read: () => undefined, write: () => undefined };
