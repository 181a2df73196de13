import { posix } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { acceptedAccess } from '../../patch/acceptedAccess.ts';
import type { AccessUnder } from '../../patch/accessUnder.ts';
import { watchedPolicy } from '../../patch/accessUnder.ts';
import { applyPlan } from '../../patch/apply/applyPlan.ts';
import type { FileSystem } from '../../patch/files/fileSystem.ts';
import { parsePatch } from '../../patch/format/parsePatch.ts';
import type { PatchError } from '../../patch/patchError.ts';
import type { PatchMachine, PatchSite } from '../../patch/patchSite.ts';
import type { Plan } from '../../patch/plan/plan.ts';
import { planPatch } from '../../patch/plan/planPatch.ts';
import { resultPath } from '../../patch/review/reviewFile.ts';
import { accessTo } from '../../sandbox/policy/fileRules.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import { readAccess } from '../../sandbox/readAccess.ts';
import type { ExecClient } from '../execServer/client/execClient.ts';
import { ConnectionLost } from '../execServer/client/execClient.ts';
import { contextOfPolicy } from '../execServer/client/policyContext.ts';
import { MalformedAnswer } from '../execServer/client/resultOf.ts';
import { RpcError } from '../execServer/protocol/errors.ts';
import { uriOf } from '../execServer/protocol/fileUri.ts';
import { planFromWire, planToWire } from '../execServer/services/patches/wirePlan.ts';
import { toWire } from '../execServer/services/sandboxContext/wirePolicy.ts';
import { withAcceptedPaths } from './acceptedFiles.ts';
import { createRemoteFileSystem } from './remoteFileSystem.ts';

/**
 * The files of another machine, for patches. Cordon's own server plans and applies where the files are, so that it
 * judges and all or nothing holds there; of another one only its file methods are used.
 */
export function createPatchSite(client: ExecClient, machine: PatchMachine): PatchSite {
  return client.isCordon ? siteOfServer(client, machine) : siteOfFileCalls(client, machine);
}

function siteOfServer(client: ExecClient, machine: PatchMachine): PatchSite {
  return {
    ...machine,
    plan: ({ text, cwd, policy, isWatched }) =>
      answered(machine, unknownNothing, async () => {
        const params = { patch: text, cwd: uriOf(cwd), policy: toWire(policy), isWatched };
        const answer = await client.call('cordon/patch/plan', params);
        if ('problem' in answer) {
          return fail(answer.problem);
        }
        const plan = planFromWire(answer.plan);
        checkPaths(plan);
        return ok({ plan, refusals: answer.refusals });
      }),
    apply: ({ plan, policy, accepted }) =>
      answered(machine, unknownWhole, async () => {
        const wire = planToWire(plan);
        const size = Object.values(wire.contents).reduce((sum, text) => sum + text.length, 0);
        if (size > maxContents) {
          return fail(tooLarge(machine));
        }
        // Not given up half-way: then nobody would know what became of it.
        const params = { plan: wire, policy: toWire(policy), accepted: accepted.map(uriOf) };
        const { problem } = await client.call('cordon/patch/apply', params);
        return problem === undefined ? ok(undefined) : fail(problem);
      }),
  };
}

/** Names of files are shown and kept by their paths, whatever the other side means by them. */
function checkPaths({ changes }: Plan): void {
  const paths = changes.flatMap((change) => [change.path, resultPath(change)]);
  const wrong = paths.find((path) => path !== posix.resolve(path));
  if (wrong !== undefined) {
    throw new MalformedAnswer(`The exec-server's plan has the path ${JSON.stringify(wrong)}, which is none.`);
  }
}

/** In base64: what a server takes in one message, with room for the rest of it. */
const maxContents = 56 * 1024 * 1024;

function tooLarge({ environment }: PatchMachine): PatchError {
  return {
    kind: 'machine',
    message: `The files of the patch, before and after, are too large to be sent to ${environment} at once: more than 42 MiB.`,
    hint: 'Nothing was changed. Split the patch, or change the file with a command.',
  };
}

function siteOfFileCalls(client: ExecClient, machine: PatchMachine): PatchSite {
  const filesUnder = (policy: SandboxPolicy, accepted: readonly string[]): Result<FileSystem, PatchError> => {
    if (isUnsandboxed(policy)) {
      return ok(createRemoteFileSystem(client, null));
    }
    const context = contextOfPolicy(policy);
    return context.ok
      ? ok(withAcceptedPaths(createRemoteFileSystem(client, context.value.sandbox), client, accepted))
      : fail({ ...context.error, kind: 'machine' });
  };
  return {
    ...machine,
    plan: ({ text, cwd, policy, isWatched }) =>
      answered(machine, unknownNothing, async () => {
        const patch = parsePatch(text);
        if (!patch.ok) {
          return patch;
        }
        const files = filesUnder(policy, []);
        if (!files.ok) {
          return files;
        }
        return planPatch(patch.value, {
          files: files.value,
          cwd,
          access: accessByRules(isWatched ? watchedPolicy(policy) : policy),
          readAccess: readAccess(policy),
        });
      }),
    apply: ({ plan, policy, accepted }) =>
      answered(machine, unknownParts, async () => {
        const files = filesUnder(policy, accepted);
        return files.ok
          ? applyPlan(plan, files.value, acceptedAccess(accessByRules(policy), accepted))
          : files;
      }),
  };
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

/** What is known of the files when the connection breaks before the answer. */
interface Unknown {
  readonly kind: 'machine' | 'lost';
  readonly hint: string;
}

const unknownNothing: Unknown = { kind: 'machine', hint: 'Nothing was changed. Try it again.' };
const unknownWhole: Unknown = {
  kind: 'lost',
  hint: 'Read the files before you go on: all of the patch was applied, or nothing of it.',
};
const unknownParts: Unknown = {
  kind: 'lost',
  hint: 'Read the files before you go on: some of them may have been changed, and others not.',
};

/** The answer of that machine; that there is none, and why, is one, too. */
async function answered<T>(
  { environment }: PatchMachine,
  { kind, hint }: Unknown,
  question: () => Promise<Result<T, PatchError>>,
): Promise<Result<T, PatchError>> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof ConnectionLost) {
      const message = `the connection to ${environment} broke before the answer (${error.message}).`;
      return fail({ kind, message, hint });
    }
    if (error instanceof RpcError || error instanceof MalformedAnswer) {
      return fail({ kind: 'machine', message: error.message, hint: 'Nothing was changed.' });
    }
    throw error;
  }
}
