import { Emitter } from '../../base/event.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { environmentSetting } from '../environments/environments.ts';
import { expectedPolicy } from '../../sandbox/policy/expectedPolicy.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import type { PolicyError, Root, RootSettings } from '../roots.ts';

/**
 * What other machines made of the settings of roots, for those who show it: the last answer to exactly these settings.
 * Whoever runs something asks the machine itself.
 */
export class RemotePolicies {
  readonly #didChange = new Emitter<void>();
  /** One was resolved, or refused. */
  readonly onDidChange = this.#didChange.event;
  readonly #known = new Map<
    string,
    { readonly words: string; readonly answer: Result<SandboxPolicy, PolicyError> }
  >();

  keep(root: Root, settings: RootSettings, answer: Result<SandboxPolicy, PolicyError>): void {
    const words = JSON.stringify(settings);
    const isNews = this.#known.get(keyOf(root))?.words !== words;
    this.#known.set(keyOf(root), { words, answer });
    if (isNews) {
      this.#didChange.fire();
    }
  }

  policyFor(
    root: Root,
    settings: RootSettings,
    widenings: readonly Widening[],
  ): Result<SandboxPolicy, PolicyError> {
    const known = this.#known.get(keyOf(root));
    if (known?.words !== JSON.stringify(settings)) {
      return fail({
        field: environmentSetting,
        message: `What the sandbox of ${root.name} allows is decided on ${root.environment}, and was not asked there yet.`,
        hint: 'It is asked with the next connection, which the next command makes.',
      });
    }
    return known.answer.ok ? ok(expectedPolicy(known.answer.value, widenings)) : known.answer;
  }
}

function keyOf({ path, environment }: Root): string {
  return JSON.stringify([environment, path]);
}
