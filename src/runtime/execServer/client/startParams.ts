import type { Result } from '../../../base/result.ts';
import { ok } from '../../../base/result.ts';
import { isUnsandboxed } from '../../../sandbox/policy/policy.ts';
import type { SandboxError } from '../../../sandbox/sandboxManager.ts';
import type { StartParams } from '../../exec/execBackend.ts';
import type { CordonStart } from '../protocol/cordon.ts';
import { uriOf } from '../protocol/fileUri.ts';
import type { ParamsFor } from '../protocol/methods.ts';
import { toWire } from '../services/sandboxContext/wirePolicy.ts';
import type { ExecClient } from './execClient.ts';
import { contextOfPolicy, environmentForPeers } from './policyContext.ts';

/** A start in the words that the server understands; fails when it has none for a clause of the policy. */
export function startParamsFor(
  client: Pick<ExecClient, 'isCordon' | 'info'>,
  processId: string,
  params: StartParams,
): Result<ParamsFor<'process/start'>, SandboxError> {
  const common = {
    processId,
    argv: [...params.argv],
    cwd: uriOf(params.cwd),
    env: { ...params.env },
    tty: params.tty !== undefined,
    pipeStdin: params.pipeStdin ?? false,
    ...(params.arg0 !== undefined && { arg0: params.arg0 }),
  };
  if (client.isCordon) {
    return ok({ ...common, cordon: cordonPart(params) });
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

function cordonPart({ policy, tty, inheritsEnvironment, label }: StartParams): CordonStart {
  return {
    policy: toWire(policy),
    ...(tty !== undefined && { size: { columns: tty.columns, rows: tty.rows } }),
    ...(inheritsEnvironment === true && { inheritsEnvironment }),
    ...(label !== undefined && { label }),
  };
}
