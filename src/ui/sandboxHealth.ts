import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import type { Availability, SandboxError, SandboxManager } from '../sandbox/sandboxManager.ts';

/** What is known about the sandbox on this machine, for everything that shows it. */
export class SandboxHealth implements Disposable {
  readonly #sandbox: SandboxManager;
  readonly #didChange = new Emitter<void>();
  #last: Availability | undefined;
  #trouble: SandboxError | undefined;

  readonly onDidChange = this.#didChange.event;

  constructor(sandbox: SandboxManager) {
    this.#sandbox = sandbox;
  }

  /** Why the policy cannot be relied on here; undefined when it can, or nobody has looked yet. */
  errorFor(policy: SandboxPolicy): SandboxError | undefined {
    const answer = this.#last?.launcherFor(policy);
    return answer?.ok === false ? answer.error : this.#trouble;
  }

  /** What enforces the policy here, or why nothing does; undefined while nobody has looked. */
  launcherFor(policy: SandboxPolicy): ReturnType<Availability['launcherFor']> | undefined {
    return this.#last?.launcherFor(policy);
  }

  /** Takes the remembered answer. */
  async check(): Promise<Availability> {
    this.#last = await this.#sandbox.check();
    this.#didChange.fire();
    return this.#last;
  }

  /** What the self-test found: undefined when everything held. It stays until the next one. */
  async noteSelfTest(trouble: SandboxError | undefined): Promise<void> {
    this.#trouble = trouble;
    await this.check();
  }

  dispose(): void {
    this.#didChange.dispose();
  }
}
