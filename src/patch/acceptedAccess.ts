import type { WriteAccess } from '../sandbox/writeAccess.ts';

/**
 * The judge of a plan that a person has looked at: what they accepted may be written, and no other path beyond the
 * policy. What an untrusted workspace forbids, no yes allows.
 */
export function acceptedAccess(judge: WriteAccess, accepted: Iterable<string>): WriteAccess {
  const paths = new Set(accepted);
  return (path) => {
    const refusal = judge(path);
    return refusal !== undefined && refusal.reason !== 'untrusted' && paths.has(path) ? undefined : refusal;
  };
}
