import { ok } from '../../base/result.ts';
import { silentLog } from '../../base/log.ts';
import type { AccessUnder } from '../../patch/accessUnder.ts';
import { applyPlan } from '../../patch/apply/applyPlan.ts';
import type { ReviewMode } from '../../patch/reviewMode.ts';
import { accessTo } from '../../sandbox/policy/fileRules.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { ExecClient } from '../execServer/client/execClient.ts';
import { ConnectionLost } from '../execServer/client/execClient.ts';
import { contextOfPolicy } from '../execServer/client/policyContext.ts';
import { RpcError } from '../execServer/protocol/errors.ts';
import { uriOf } from '../execServer/protocol/fileUri.ts';
import { toWire } from '../execServer/services/sandboxContext/wirePolicy.ts';
import type { Place } from '../places.ts';
import type { ToolResult } from '../tools/tool.ts';
import { toolError } from '../tools/tool.ts';
import type { PatchCall } from './patchRunner.ts';
import { PatchRunner } from './patchRunner.ts';
import { createRemoteFileSystem } from './remoteFileSystem.ts';

export interface RemotePatch {
  readonly text: string;
  readonly place: Pick<Place, 'cwd' | 'root' | 'policy'>;
  readonly cwd: string;
  readonly reviewMode: ReviewMode;
}

/**
 * Applies a patch to the files of another machine. Cordon's own server does it all where the files are; of another one
 * only its file methods are used. Nobody can review a patch there: what would wait for a person is refused.
 */
export async function patchRemotely(client: ExecClient, patch: RemotePatch): Promise<ToolResult> {
  try {
    return await (client.isCordon ? patchByServer(client, patch) : patchByFileCalls(client, patch));
  } catch (error) {
    if (error instanceof ConnectionLost) {
      return toolError('apply_patch', {
        message: `the connection broke before the answer (${error.message}).`,
        hint: 'Read the files before you go on: all of the patch was applied, or nothing of it.',
      });
    }
    if (error instanceof RpcError) {
      return toolError('apply_patch', { message: error.message, hint: 'Nothing was changed.' });
    }
    throw error;
  }
}

function patchByServer(
  client: ExecClient,
  { text, place, cwd, reviewMode }: RemotePatch,
): Promise<ToolResult> {
  const params = { patch: text, cwd: uriOf(cwd), policy: toWire(place.policy), reviewMode };
  // Not given up half-way: then nobody would know what became of it.
  return client.call('cordon/patch/apply', params);
}

async function patchByFileCalls(client: ExecClient, patch: RemotePatch): Promise<ToolResult> {
  const { policy } = patch.place;
  const context = isUnsandboxed(policy) ? undefined : contextOfPolicy(policy);
  if (context?.ok === false) {
    return toolError('apply_patch', context.error);
  }
  const files = createRemoteFileSystem(client, context === undefined ? null : context.value.sandbox);
  const runner = new PatchRunner({
    host: {
      files,
      async apply({ plan }) {
        const applied = await applyPlan(plan, files, accessByRules(policy));
        return applied.ok ? ok({ notes: [] }) : applied;
      },
    },
    roots: { reviewModeFor: () => patch.reviewMode },
    log: silentLog,
    accessUnder: accessByRules,
  });
  const never = new AbortController().signal;
  const { cwd, root } = patch.place;
  // Without its machine, which has handed it over.
  const call: PatchCall = { text: patch.text, place: { cwd, root, policy }, cwd: patch.cwd, signal: never };
  return runner.run(call);
}

/**
 * What the rules say of a path, as they are: what more is protected, and where links lead, is for the server's sandbox
 * to enforce.
 */
const accessByRules: AccessUnder = (policy) => (path) => {
  if (isUnsandboxed(policy) || accessTo(policy, path) === 'write') {
    return undefined;
  }
  const isUntrusted = policy.sources.mode === 'untrusted';
  const reason = isUntrusted ? 'untrusted' : policy.mode === 'read-only' ? 'read-only' : 'outside';
  return {
    path,
    reason,
    clause: reason === 'outside' ? 'writableRoots' : 'mode',
    message: `${path} may not be written: the sandbox of ${policy.root} does not open it.`,
    hint: 'Write inside the folders that it opens, or ask the person to add one to cordon.sandbox.writableRoots.',
  };
};
