import type { StartError, StartParams } from '../../exec/execBackend.ts';
import { cordonStartFailure } from '../protocol/cordon.ts';
import { RpcError } from '../protocol/errors.ts';
import { ConnectionLost } from './execClient.ts';

/** What a failed `process/start` means to whoever asked for the command. */
export function startErrorOf(cause: unknown, { argv, cwd }: Pick<StartParams, 'argv' | 'cwd'>): StartError {
  const program = argv[0] ?? '';
  if (cause instanceof ConnectionLost) {
    return {
      kind: 'spawn-failed',
      message: `${program} may or may not have started: ${cause.message}.`,
      hint: 'Look at what it would have done before running it again: the next command connects anew.',
    };
  }
  if (!(cause instanceof RpcError)) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { kind: 'spawn-failed', message: reason, hint: 'Update the exec-server on that machine.' };
  }
  const { kind, cordon } = asObject(cause.data);
  const told = cordonStartFailure.safeParse(cordon);
  if (told.success) {
    return told.data;
  }
  const said = cause.message.replace(/\.$/, '');
  switch (kind) {
    case 'spawnNotFound':
      return {
        kind: 'spawn-not-found',
        message: `${program} or the folder ${cwd} was not found on the machine that runs commands: ${said}.`,
        hint: 'Pass an existing folder as workdir, and check the path of the program.',
      };
    case 'spawnPermissionDenied':
      return {
        kind: 'spawn-permission-denied',
        message: `${program} may not be executed: ${said}.`,
        hint: `Make it executable (chmod +x ${program}) or run it with its interpreter.`,
      };
    default:
      return {
        kind: 'spawn-failed',
        message: `${program} could not be started: ${said}.`,
        hint: /argument list too long/i.test(cause.message)
          ? 'The command or its environment is too long: put the text into a file and run that.'
          : 'Check the command and the limits of the machine (open files, processes).',
      };
  }
}

function asObject(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
}
