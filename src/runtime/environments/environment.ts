import type * as z from 'zod';
import type { Disposable } from '../../base/disposable.ts';
import type { Event } from '../../base/event.ts';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import type { ExecBackend } from '../exec/execBackend.ts';
import type { ExecClient } from '../execServer/client/execClient.ts';

/** The name of this machine, which no setting can define. */
export const localName = 'local';

/** A machine that runs commands. Nothing is connected before it is needed. */
export interface Environment extends Disposable {
  /** Unique among the environments; `local` is this machine. */
  readonly name: string;
  /** Where it is, for a person: `ssh build.example`, `ws://127.0.0.1:4711`. */
  readonly address: string;
  /** Where the commands of a root work there; absent on this machine, where that is the root's own folder. */
  readonly folder?: string;
  readonly state: EnvironmentState;
  readonly onDidChangeState: Event<EnvironmentState>;
  readonly backend: ExecBackend;
  /** The connection that is there, or a new one. Failing leaves nothing behind and can be tried again. */
  connect(): Promise<Result<ExecClient, EnvironmentError>>;
  /** Starts connecting, because it will be needed soon. */
  prewarm(): void;
  /** Gives up the connection that is being made: whoever waits for it gets an error. Absent where that takes no time. */
  cancel?(): void;
}

export type EnvironmentState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  | {
      readonly kind: 'connected';
      readonly version: string;
      /** From before an update: it is kept for as long as something runs in it. */
      readonly isOtherBuild?: true;
    }
  | { readonly kind: 'failed'; readonly error: EnvironmentError };

export interface EnvironmentError {
  readonly kind:
    'unreachable' | 'wrong-version' | 'wrong-key' | 'refused' | 'not-installed' | 'invalid-settings';
  /** One sentence for a person: what stopped it. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
}

/** One kind of environment. A new one is a file that makes one of these, and a line in `providers.ts`. */
export interface EnvironmentProvider<Settings = unknown> {
  /** The word in `type` of the setting `cordon.environments`. */
  readonly type: string;
  /** What the setting has beside `type`. */
  readonly settings: z.ZodType<Settings>;
  open(name: string, settings: Settings, services: EnvironmentServices): Environment;
}

export interface EnvironmentServices {
  readonly log: Log;
  /** `dist`: what a server on another machine needs is copied from here. */
  readonly bundleFolder: string;
  /** Of this build; a server of another one is replaced where it can be. */
  readonly version: string;
  /** What the program before this one had open; without it, nothing is taken over. */
  readonly sessions?: SessionMemory;
}

/** Remembers, by the name of the environment, the session there, for the program that comes after this one. */
export interface SessionMemory {
  sessionOf(name: string): string | undefined;
  remember(name: string, sessionId: string | undefined): void;
}
