import type { MethodName } from './methods.ts';

/** Whether a call is worth a span on either side: what takes time, and not each key that is typed. */
export function isTraced(method: MethodName): boolean {
  return method === 'process/start' || /^(fs|http)\//.test(method);
}
