import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { ExecBackend, ExecProcess, FoundProcess, StartError, StartParams } from '../exec/execBackend.ts';
import type { Environment, EnvironmentError, EnvironmentServices } from './environment.ts';
import { localName } from './environment.ts';
import { providers as allProviders } from './providers.ts';
import type { CheckedProvider } from './providers.ts';

export const environmentsSetting = 'cordon.environments';
/** The name of the one that runs commands where nothing was chosen. */
export const environmentSetting = 'cordon.environment';

export interface EnvironmentsOptions {
  readonly local: Environment;
  readonly services: EnvironmentServices;
  /** The value of the setting, as the person wrote it. */
  readonly settings: () => unknown;
  readonly providers?: readonly CheckedProvider[];
}

interface Entry {
  readonly settings: unknown;
  readonly environment: Environment;
  readonly subscription: Disposable;
}

/** The machines that run commands, by name: this one, and those of the settings. Starts each command on its own. */
export class Environments implements ExecBackend, Disposable {
  readonly #options: EnvironmentsOptions;
  readonly #didChange = new Emitter<void>();
  readonly #entries = new Map<string, Entry>();
  readonly #subscription: Disposable;
  #problems: ReadonlyMap<string, EnvironmentError> = new Map();

  /** One came, went, or is in another state. */
  readonly onDidChange = this.#didChange.event;

  constructor(options: EnvironmentsOptions) {
    this.#options = options;
    this.#subscription = options.local.onDidChangeState(() => this.#didChange.fire());
    this.refresh();
  }

  get local(): Environment {
    return this.#options.local;
  }

  /** This machine first. */
  list(): readonly Environment[] {
    return [this.#options.local, ...[...this.#entries.values()].map(({ environment }) => environment)];
  }

  /** What is wrong in the settings, by the name of the environment; the empty name is the setting as a whole. */
  get problems(): ReadonlyMap<string, EnvironmentError> {
    return this.#problems;
  }

  get(name: string): Result<Environment, EnvironmentError> {
    if (name === localName) {
      return ok(this.#options.local);
    }
    const environment = this.#entries.get(name)?.environment;
    return environment === undefined
      ? fail(this.#problems.get(name) ?? this.#problems.get('') ?? unknownName(name, this.list()))
      : ok(environment);
  }

  /** Reads the settings anew. What is as it was stays connected; sessions on what is gone or changed end. */
  refresh(): void {
    const problems = new Map<string, EnvironmentError>();
    const wanted = asEntries(this.#options.settings());
    if (wanted === undefined) {
      problems.set(
        '',
        invalid(environmentsSetting, this.#options.settings(), 'must be an object', 'Name each one'),
      );
    }
    for (const [name, { settings }] of this.#entries) {
      if (!isDeepStrictEqual(wanted?.get(name), settings)) {
        this.#remove(name);
      }
    }
    for (const [name, settings] of wanted ?? []) {
      if (!this.#entries.has(name)) {
        const opened = this.#open(name, settings);
        if (opened.ok) {
          const subscription = opened.value.onDidChangeState(() => this.#didChange.fire());
          this.#entries.set(name, { settings, environment: opened.value, subscription });
        } else {
          problems.set(name, opened.error);
        }
      }
    }
    this.#problems = problems;
    this.#didChange.fire();
  }

  async start(params: StartParams): Promise<Result<ExecProcess, StartError>> {
    const environment = this.get(params.environment ?? localName);
    if (!environment.ok) {
      const { message, hint } = environment.error;
      return fail({ kind: 'spawn-failed', message, hint });
    }
    return environment.value.backend.start(params);
  }

  prewarm(name: string): void {
    const environment = this.get(name);
    if (environment.ok) {
      environment.value.prewarm();
    }
  }

  /** One that cannot be reached holds nobody up but itself: what it has is not found then. */
  async found(): Promise<readonly FoundProcess[]> {
    const found = this.list().map(async ({ name: environment, backend }) => {
      try {
        return ((await backend.found?.()) ?? []).map((process) => ({ ...process, environment }));
      } catch (cause) {
        this.#options.services.log.warn(
          `What runs in ${environment} from before was not found: ${String(cause)}`,
        );
        return [];
      }
    });
    return (await Promise.all(found)).flat();
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const name of [...this.#entries.keys()]) {
      this.#remove(name);
    }
    this.#didChange.dispose();
    this.#options.local.dispose();
  }

  #open(name: string, settings: unknown): Result<Environment, EnvironmentError> {
    const { services, providers = allProviders } = this.#options;
    const field = `${environmentsSetting}.${name}`;
    if (name === localName) {
      return fail(
        invalid(field, settings, 'must be left out: that is the name of this machine', 'Choose another name'),
      );
    }
    const types = providers.map((candidate) => candidate.type);
    if (!isRecord(settings)) {
      return fail(
        invalid(field, settings, `must be an object with a type (${types.join(', ')})`, `Correct ${field}`),
      );
    }
    const { type, ...rest } = settings;
    const provider = providers.find((candidate) => candidate.type === type);
    if (provider === undefined) {
      const fix = `${type === undefined ? 'Add' : 'Correct'} ${field}.type`;
      return fail(invalid(`${field}.type`, type, `must be one of ${types.join(', ')}`, fix));
    }
    const opened = provider.open(name, rest, services);
    return opened.ok ? opened : fail(fromIssue(field, rest, opened.error));
  }

  #remove(name: string): void {
    const entry = this.#entries.get(name);
    this.#entries.delete(name);
    entry?.subscription.dispose();
    entry?.environment.dispose();
  }
}

function fromIssue(field: string, settings: object, issue: z.core.$ZodIssue): EnvironmentError {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const unknown = issue.keys.map((key) => [field, ...path, key].join('.'));
    return {
      kind: 'invalid-settings',
      message: `${unknown.join(', ')} in the settings is unknown.`,
      hint: `Remove it, or correct its spelling. Nothing runs in this environment until then.`,
    };
  }
  const value = path.reduce<unknown>((inner, part) => (isRecord(inner) ? inner[part] : undefined), settings);
  const place = [field, ...path].join('.');
  const demand = issue.message.startsWith('must ')
    ? issue.message
    : `must be ${issue.code === 'invalid_type' ? `a ${issue.expected}` : `something else: ${issue.message}`}`;
  return invalid(place, value, demand, `${value === undefined ? 'Add' : 'Correct'} ${place}`);
}

/** @param demand As in `must be a string`. */
function invalid(field: string, value: unknown, demand: string, fix: string): EnvironmentError {
  const is = value === undefined ? 'missing' : JSON.stringify(value);
  return {
    kind: 'invalid-settings',
    message: `${field} is ${is} in the settings, but ${demand}.`,
    hint: `${fix} in the settings. Nothing runs in this environment until then.`,
  };
}

function unknownName(name: string, known: readonly Environment[]): EnvironmentError {
  return {
    kind: 'invalid-settings',
    message: `There is no environment "${name}".`,
    hint: `Define it in ${environmentsSetting}, or choose one of ${known.map((one) => one.name).join(', ')}.`,
  };
}

function asEntries(settings: unknown): ReadonlyMap<string, unknown> | undefined {
  if (settings === undefined) {
    return new Map();
  }
  return isRecord(settings) ? new Map(Object.entries(settings)) : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
