import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { Result } from '../base/result.ts';
import type { SandboxError, SandboxManager, SandboxReport } from '../sandbox/sandboxManager.ts';

/** What is known about the sandbox on this machine, for everything that shows it. */
export class SandboxHealth implements Disposable {
  readonly #sandbox: SandboxManager;
  readonly #didChange = new Emitter<void>();
  #last: Result<SandboxReport, SandboxError> | undefined;

  readonly onDidChange = this.#didChange.event;

  constructor(sandbox: SandboxManager) {
    this.#sandbox = sandbox;
  }

  /** Why nothing can be confined here; undefined when it can, or nobody has looked yet. */
  get error(): SandboxError | undefined {
    return this.#last?.ok === false ? this.#last.error : undefined;
  }

  /** Takes the remembered answer; {@link recheck} looks again. */
  check(): Promise<Result<SandboxReport, SandboxError>> {
    return this.#keep(this.#sandbox.check());
  }

  recheck(): Promise<Result<SandboxReport, SandboxError>> {
    return this.#keep(this.#sandbox.check(true));
  }

  dispose(): void {
    this.#didChange.dispose();
  }

  async #keep(
    answer: Promise<Result<SandboxReport, SandboxError>>,
  ): Promise<Result<SandboxReport, SandboxError>> {
    this.#last = await answer;
    this.#didChange.fire();
    return this.#last;
  }
}
