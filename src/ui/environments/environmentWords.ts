import type { EnvironmentError, EnvironmentState } from '../../runtime/environments/environment.ts';

// What a person reads about environments.

/** How it stands, in a few words. */
export function stateOfEnvironment(state: EnvironmentState): string {
  switch (state.kind) {
    case 'idle':
      return 'not connected';
    case 'connecting':
      return 'connecting…';
    case 'connected':
      return `connected, version ${state.version}`;
    case 'failed':
      return state.error.message;
  }
}

/** Where commands run that run on another machine. */
export function placeWords(name: string, address: string, state: EnvironmentState): string {
  return `Commands run in the environment ${name}, ${address}: ${stateOfEnvironment(state)}`;
}

/** The buttons of a notification about an error, beside trying again. */
export function curesFor({ kind }: EnvironmentError): readonly ('settings' | 'log')[] {
  switch (kind) {
    case 'invalid-settings':
      return ['settings'];
    case 'wrong-key':
    case 'unreachable':
      return ['settings', 'log'];
    case 'wrong-version':
    case 'refused':
    case 'not-installed':
      return ['log'];
  }
}
