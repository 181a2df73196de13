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
      return state.isOtherBuild === true
        ? `connected, ${versionWords(state.version)}, from before an update: a new server starts when nothing runs in this one`
        : `connected, ${versionWords(state.version)}`;
    case 'failed':
      return state.error.message;
  }
}

/** A build is known by the hash of its files, which nobody reads to the end. */
function versionWords(version: string): string {
  return /^[0-9a-f]{40,}$/.test(version) ? `build ${version.slice(0, 8)}` : `version ${version}`;
}

/** Where commands run that run on another machine. */
export function placeWords(name: string, address: string, state: EnvironmentState): string {
  return `Commands run in the environment ${name}, ${address}: ${stateOfEnvironment(state)}`;
}

/** Where commands run that run here; how their server stands matters to a person only when it is an old one. */
export function localPlaceWords(state: EnvironmentState): string {
  const isOld = state.kind === 'connected' && state.isOtherBuild === true;
  return isOld
    ? `Commands run on this machine: ${stateOfEnvironment(state)}`
    : 'Commands run on this machine';
}

/** The buttons of a notification about an error, beside trying again. */
export function curesFor({ kind }: EnvironmentError): readonly ('settings' | 'log')[] {
  switch (kind) {
    case 'invalid-settings':
      return ['settings'];
    case 'wrong-key':
    case 'unreachable':
    case 'refused':
      return ['settings', 'log'];
    case 'wrong-version':
    case 'not-installed':
      return ['log'];
  }
}
