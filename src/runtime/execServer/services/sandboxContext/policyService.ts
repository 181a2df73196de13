import * as z from 'zod';
import { statSync } from 'node:fs';
import type { Result } from '../../../../base/result.ts';
import type { PolicyProblem } from '../../../../sandbox/policy/input.ts';
import { readManagedPolicy } from '../../../../sandbox/policy/managedPolicy.ts';
import { nodeMachine } from '../../../../sandbox/policy/nodeMachine.ts';
import { resolveWidened } from '../../../../sandbox/policy/resolveWidened.ts';
import { fileUri, pathOf } from '../../protocol/fileUri.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { Handlers } from '../../server/service.ts';
import { toWire } from './wirePolicy.ts';

const settings = z.record(z.string(), z.unknown());

/** Of `PolicyInput` what its machine does not know itself. What the settings hold is checked as they are resolved. */
const inputSchema = z.strictObject({
  root: fileUri,
  isTrusted: z.boolean(),
  user: settings,
  profiles: z.unknown().optional(),
  profile: z.unknown().optional(),
  grant: settings.optional(),
  workspace: settings.optional(),
});

export interface PolicyServiceOptions {
  /** What this machine's administrator demands; by default what the usual file says. */
  readonly managed?: () => Result<unknown, PolicyProblem>;
}

/** Settings of a client's root become a policy here, where its paths are, with what this machine's administrator says. */
export function policyHandlers({
  managed = () => readManagedPolicy(process.platform),
}: PolicyServiceOptions = {}): Handlers {
  return {
    'cordon/policy/resolve': ({ input, widenings = [] }) => {
      const parsed = inputSchema.safeParse(input);
      if (!parsed.success) {
        throw new RpcError(errorCodes.invalidParams, `input: ${z.prettifyError(parsed.error)}`);
      }
      const demands = managed();
      if (!demands.ok) {
        return { problem: demands.error };
      }
      const machine = nodeMachine();
      const root = machine.canonicalize(pathOf(parsed.data.root));
      if (root === undefined || !statSync(root).isDirectory()) {
        return { problem: noFolder(pathOf(parsed.data.root)) };
      }
      const { profiles, profile, grant, workspace, user, isTrusted } = parsed.data;
      const policy = resolveWidened(
        {
          ...machine,
          root,
          isTrusted,
          user,
          profiles,
          profile,
          managed: demands.value,
          ...(grant !== undefined && { grant }),
          ...(workspace !== undefined && { workspace }),
        },
        widenings,
      );
      return policy.ok ? { policy: toWire(policy.value) } : { problem: policy.error };
    },
  };
}

function noFolder(path: string): PolicyProblem {
  return {
    field: 'root',
    message: `${path} is no folder on this machine.`,
    hint: 'Correct the folder of this root in the setting of its environment, or make it there.',
    source: 'user',
  };
}
