import type { Result } from '../../../../base/result.ts';
import { fail, ok } from '../../../../base/result.ts';
import type { PolicyMachine, PolicyProblem } from '../../../../sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../../../sandbox/policy/policy.ts';
import { underManaged } from '../../../../sandbox/policy/underManaged.ts';
import type { WirePolicy } from '../../protocol/cordon.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { WireSandboxType } from '../../protocol/processes.ts';
import type { SandboxContext } from '../../protocol/sandboxContext.ts';
import type { ContextMachine } from './contextMachine.ts';
import type { Asker } from './contextPolicy.ts';
import { policyOfContext, unconfinedPolicy } from './contextPolicy.ts';
import { invalid } from './entryTargets.ts';
import { fromWire } from './wirePolicy.ts';

/** How a command or a file call is confined, as its request says. */
export interface ConfinementRequest {
  readonly sandbox?: SandboxContext | null | undefined;
  /** Of Cordon's own clients. */
  readonly policy?: WirePolicy | undefined;
}

export interface Confinement {
  readonly policy: SandboxPolicy;
  /** What the answer to a start says: a sandbox whenever one was asked for, even if it confines nothing. */
  readonly sandboxType: WireSandboxType;
}

/**
 * What a request's words about its sandbox mean on this machine, at this moment, under what its administrator demands;
 * without any it is unconfined. Fails with the error to answer when it cannot be kept: nothing runs then.
 */
export async function confinementOf(
  request: ConfinementRequest,
  asker: Asker,
  machine: ContextMachine,
): Promise<Result<Confinement, RpcError>> {
  const asked = await askedConfinement(request, asker, machine);
  if (!asked.ok) {
    return asked;
  }
  const { policy, sandboxType } = asked.value;
  const narrowed = asRpc(narrowedHere(policy, machine));
  if (!narrowed.ok) {
    return narrowed;
  }
  if (isUnsandboxed(policy) && !isUnsandboxed(narrowed.value)) {
    // Files without a sandbox are the client's own business, which is none of an agent's.
    return asker.kind === 'files' ? asked : fail(demanded);
  }
  return ok({ policy: narrowed.value, sandboxType });
}

const demanded = new RpcError(
  errorCodes.invalidRequest,
  'The administrator of this machine lets no command run without a sandbox. Send one with the start.',
);

/** A policy under what the administrator of this machine demands. */
export function narrowedHere(
  policy: SandboxPolicy,
  machine: Pick<ContextMachine, 'managed'> & PolicyMachine,
): Result<SandboxPolicy, PolicyProblem> {
  const managed = machine.managed?.() ?? ok(undefined);
  if (!managed.ok) {
    return managed;
  }
  return managed.value === undefined ? ok(policy) : underManaged(policy, managed.value, machine);
}

export function asRpc<T>(result: Result<T, PolicyProblem>): Result<T, RpcError> {
  return result.ok
    ? result
    : fail(new RpcError(errorCodes.invalidRequest, `${result.error.message} ${result.error.hint}`));
}

async function askedConfinement(
  { sandbox, policy }: ConfinementRequest,
  asker: Asker,
  machine: ContextMachine,
): Promise<Result<Confinement, RpcError>> {
  try {
    if (policy === undefined) {
      return sandbox == null
        ? ok({ policy: unconfinedPolicy(asker.kind === 'process' ? asker.cwd : '/'), sandboxType: 'none' })
        : ok({
            policy: await policyOfContext(sandbox, asker, machine),
            sandboxType: sandboxTypeOf(machine.platform),
          });
    }
    if (sandbox != null) {
      return fail(invalid('it cannot be given together with cordon.policy: send one of them'));
    }
    const own = fromWire(policy, machine);
    return own.ok
      ? ok({
          policy: own.value,
          sandboxType: isUnsandboxed(own.value) ? 'none' : sandboxTypeOf(machine.platform),
        })
      : own;
  } catch (error) {
    if (error instanceof RpcError) {
      return fail(error);
    }
    throw error;
  }
}

function sandboxTypeOf(platform: NodeJS.Platform): WireSandboxType {
  if (platform === 'darwin') {
    return 'macosSeatbelt';
  }
  return platform === 'win32' ? 'windowsRestrictedToken' : 'linuxSeccomp';
}
