import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where the commands outside of the editor keep their audit log: with what a person's programs remember. */
export function cliAuditFolder(env: NodeJS.ProcessEnv = process.env): string {
  const state = env['XDG_STATE_HOME'] ?? '';
  return join(isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'cordon', 'audit');
}
