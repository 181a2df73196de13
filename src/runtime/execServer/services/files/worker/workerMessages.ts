import type { SandboxPolicy } from '../../../../../sandbox/policy/policy.ts';
import type { RpcErrorBody } from '../../../protocol/errors.ts';
import type { NotificationParams } from '../../../protocol/methods.ts';
import type { FileMethod } from '../fileMethods.ts';
import type { JudgeFacts } from '../policyJudge.ts';

// One message of JSON per line, both ways. The worker believes the server; the server checks what a worker says.

/** The first line that a worker gets. */
export interface WorkerSetup {
  readonly policy: SandboxPolicy;
  readonly facts: JudgeFacts;
}

/** `endWatch` is answered, like everything else. */
export interface WorkerRequest {
  readonly id: number;
  readonly method: FileMethod | 'endWatch';
  readonly params: unknown;
}

export type WorkerMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: RpcErrorBody }
  | { readonly missingChanged: NotificationParams<'fs/missingChanged'> };
