import { errorCodes, RpcError } from '../../protocol/errors.ts';

/** Answers a start whose words about the network cannot be kept: nothing runs with more, or less, than it says. */
export function invalidWord(field: string, problem: string, cure: string): RpcError {
  return new RpcError(
    errorCodes.invalidParams,
    `invalid params of process/start: ${field}: ${problem}. ${cure}.`,
  );
}
