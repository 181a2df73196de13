import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import { isUnsandboxed } from '../../../sandbox/policy/policy.ts';
import type { Door } from '../../../sandbox/sandboxManager.ts';
import type { StartError, StartParams } from '../../exec/execBackend.ts';
import type { CordonStart } from '../protocol/cordon.ts';
import { uriOf } from '../protocol/fileUri.ts';
import type { ParamsFor } from '../protocol/methods.ts';
import { toWire } from '../services/sandboxContext/wirePolicy.ts';
import type { ExecClient } from './execClient.ts';
import { contextOfPolicy, environmentForPeers } from './policyContext.ts';
import { TunnelledConnection } from './tunnelledConnection.ts';

/** A start in the words that the server understands; fails when it has none for a clause of the policy, or a rule. */
export function startParamsFor(
  client: ExecClient,
  processId: string,
  params: StartParams,
): Result<ParamsFor<'process/start'>, StartError> {
  const common = {
    processId,
    argv: [...params.argv],
    cwd: uriOf(params.cwd),
    env: { ...params.env },
    tty: params.tty !== undefined,
    pipeStdin: params.pipeStdin ?? false,
    ...(params.arg0 !== undefined && { arg0: params.arg0 }),
  };
  const { streams, door } = params;
  if (streams !== undefined && !(streams instanceof TunnelledConnection && streams.client === client)) {
    return fail(strangeStreams);
  }
  if (client.isCordon) {
    return ok({ ...common, cordon: cordonPart(params, streams?.id) });
  }
  if (door !== undefined && door.restricted.length > 0) {
    return fail(cannotAsk(door, params.environment));
  }
  const inherited = params.inheritsEnvironment === true && {
    envPolicy: environmentForPeers(params.policy.environment),
  };
  if (isUnsandboxed(params.policy)) {
    return ok({ ...common, ...inherited });
  }
  const context = contextOfPolicy(params.policy);
  return context.ok ? ok({ ...common, ...inherited, sandbox: context.value.sandbox }) : context;
}

const strangeStreams: StartError = {
  kind: 'spawn-failed',
  message: 'The input and output of this part of a script are on another machine, or its server is gone.',
  hint: 'Run the script again.',
};

/** What a rule speaks of must not run unasked. */
function cannotAsk({ restricted }: Door, environment = 'that machine'): StartError {
  return {
    kind: 'clause-unenforceable',
    message: `A rule wants ${restricted.join(', ')} to be asked about or forbids it, also inside of commands, and the exec-server of ${environment} has no way to ask.`,
    hint: `Run Cordon's own exec-server there, choose another environment, or remove the rules.`,
  };
}

function cordonPart(
  { policy, tty, folder, door, inheritsEnvironment, label }: StartParams,
  streams: string | undefined,
): CordonStart {
  return {
    policy: toWire(policy),
    ...(tty !== undefined && { size: { columns: tty.columns, rows: tty.rows } }),
    ...(folder !== undefined && { folder }),
    ...(door !== undefined && { door: { programs: [...door.programs] } }),
    ...(streams !== undefined && { streams }),
    ...(inheritsEnvironment === true && { inheritsEnvironment }),
    ...(label !== undefined && { label }),
  };
}
