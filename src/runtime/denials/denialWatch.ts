import { wideningsFor } from '../../sandbox/denials/wideningsFor.ts';
import type { Denial } from '../../sandbox/denials/denial.ts';
import type { PolicyMachine } from '../../sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { isGivable, mayLeaveSandbox } from '../approvals/givable.ts';
import type { Root, Roots } from '../roots.ts';
import type { Session } from '../sessions/session.ts';
import type { DenialLog } from './denialLog.ts';

/** Records what the sandbox stops, and knows what a person could grant against it. */
export class DenialWatch {
  readonly #roots: Roots;
  readonly #log: DenialLog;
  readonly #machine: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>;

  constructor(roots: Roots, log: DenialLog, machine: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>) {
    this.#roots = roots;
    this.#log = log;
    this.#machine = machine;
  }

  /** Records the denials of a session when it ends. */
  watch(session: Session): void {
    void session.closed.then(() => {
      const { id: sessionId, root, commandLine, cwd, policy } = session;
      for (const denial of session.denials().toReversed()) {
        const fixes = this.fixesFor(denial, policy, root);
        this.#log.add({ root, sessionId, commandLine, cwd, denial, fixes });
      }
    });
  }

  /** What would let a denied action through: only what a person may grant, and what nothing stricter takes back. */
  fixesFor(denial: Denial, policy: SandboxPolicy, root: Root): readonly Widening[] {
    // Whether something is at a path of another machine is not known here: its folder is there in any case.
    const machine =
      root.environment === undefined
        ? this.#machine
        : { ...this.#machine, canonicalize: (path: string) => (path === denial.path ? undefined : path) };
    return wideningsFor(denial, policy, machine).filter((widening) => isGivable(this.#roots, root, widening));
  }

  /** Whether a person may take a command of the root out of the sandbox. */
  mayLeave(root: Root): boolean {
    return mayLeaveSandbox(this.#roots, root);
  }
}
