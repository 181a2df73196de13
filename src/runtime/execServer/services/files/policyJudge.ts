import type { SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import { readAccess } from '../../../../sandbox/readAccess.ts';
import { writeAccess } from '../../../../sandbox/writeAccess.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { Judge } from './judge.ts';
import { wordsOf } from './osErrors.ts';

/** What the pure evaluator has to know of the machine beside the policy. */
export interface JudgeFacts {
  readonly temporaryFolders: readonly string[];
  /** Not written under any policy. */
  readonly trustedPaths: readonly string[];
}

/**
 * The policy's word on names, for one call: what is protected depends on what exists. A refusal has the code and
 * begins with the words of the kernel's own, and then says more.
 */
export function policyJudge(policy: SandboxPolicy, facts: JudgeFacts): Judge {
  const judgeRead = readAccess(policy);
  const judgeWrite = writeAccess(policy, facts.temporaryFolders, facts.trustedPaths);
  return {
    read(path) {
      const refusal = judgeRead(path);
      if (refusal !== undefined) {
        throw new RpcError(errorCodes.invalidRequest, `${wordsOf('EACCES')}: ${refusal.message}`);
      }
    },
    write(path) {
      const refusal = judgeWrite(path);
      if (refusal === undefined) {
        return;
      }
      throw refusal.reason === 'hidden'
        ? new RpcError(errorCodes.invalidRequest, `${wordsOf('EACCES')}: ${refusal.message}`)
        : new RpcError(errorCodes.internal, `${wordsOf('EROFS')}: ${refusal.message}`);
    },
  };
}
