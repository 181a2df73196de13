import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { EnvironmentPolicy } from '../../../sandbox/environment.ts';
import { isUnsandboxed } from '../../../sandbox/policy/policy.ts';
import type { SandboxError } from '../../../sandbox/sandboxManager.ts';
import type { StartParams } from '../../exec/execBackend.ts';
import type { CordonStart, WirePolicy } from '../protocol/cordon.ts';
import { uriOf } from '../protocol/fileUri.ts';
import type { ParamsFor } from '../protocol/methods.ts';
import { toWire } from '../services/sandboxContext/wirePolicy.ts';
import type { ExecClient } from './execClient.ts';

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
    envPolicy: wireEnvironment(params.policy.environment),
  };
  if (isUnsandboxed(params.policy)) {
    return ok({ ...common, ...inherited });
  }
  return fail({
    kind: 'clause-unenforceable',
    message: 'The server of this environment is not Cordon’s own and takes no policies.',
    hint: 'Use an environment with Cordon’s own server.',
  });
}

function cordonPart({ policy, tty, inheritsEnvironment, label }: StartParams): CordonStart {
  return {
    policy: toWire(policy),
    ...(tty !== undefined && { size: { columns: tty.columns, rows: tty.rows } }),
    ...(inheritsEnvironment === true && { inheritsEnvironment }),
    ...(label !== undefined && { label }),
  };
}

function wireEnvironment(policy: EnvironmentPolicy): WirePolicy['environment'] {
  return {
    ...policy,
    exclude: [...policy.exclude],
    set: { ...policy.set },
    includeOnly: [...policy.includeOnly],
  };
}
