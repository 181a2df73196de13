import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { acceptedAccess } from '../../patch/acceptedAccess.ts';
import type { AccessUnder } from '../../patch/accessUnder.ts';
import { watchedPolicy } from '../../patch/accessUnder.ts';
import { applyPlan } from '../../patch/apply/applyPlan.ts';
import type { FileSystem } from '../../patch/files/fileSystem.ts';
import { missingFoldersAbove } from '../../patch/files/missingFolders.ts';
import { parsePatch } from '../../patch/format/parsePatch.ts';
import type { PatchError } from '../../patch/patchError.ts';
import type { PatchMachine, PatchSite } from '../../patch/patchSite.ts';
import { planPatch } from '../../patch/plan/planPatch.ts';
import { accessTo } from '../../sandbox/policy/fileRules.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import { readAccess } from '../../sandbox/readAccess.ts';
import type { ExecClient } from '../execServer/client/execClient.ts';
import { contextOfPolicy } from '../execServer/client/policyContext.ts';
import { withAcceptedPaths } from './acceptedFiles.ts';
import { createRemoteFileSystem, removeEmptyFolders } from './remoteFileSystem.ts';
import type { SeenFile } from './siteAnswers.ts';
import { answered, seenFiles, unknownNothing, unknownParts, unknownRest } from './siteAnswers.ts';

/**
 * The files of a machine with another server, by its file methods alone: one change after the other, under the sandbox
 * that the policy comes to in its words.
 */
export function siteOfFileCalls(client: ExecClient, machine: PatchMachine): PatchSite {
  const open = createRemoteFileSystem(client, null);
  const filesUnder = (policy: SandboxPolicy, accepted: readonly string[]): Result<FileSystem, PatchError> => {
    if (isUnsandboxed(policy)) {
      return ok(open);
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
    look: ({ paths, policy, withContents }) =>
      answered(machine, unknownNothing, async () => {
        const seen: SeenFile[] = [];
        for (const path of paths) {
          const entry = await open.stat(path);
          const isRead = withContents && entry.kind === 'file';
          seen.push({ path, entry, bytes: isRead ? await open.read(path) : Buffer.alloc(0) });
        }
        const missingFolders = await missingFoldersAbove(
          paths,
          async (path) => (await open.stat(path)).kind !== 'missing',
        );
        const refusals = paths.map(accessByRules(watchedPolicy(policy)));
        return ok({
          files: seenFiles(seen),
          missingFolders,
          refusals: refusals.filter((refusal) => refusal !== undefined),
        });
      }),
    completeRestore: ({ newFolders, files }) =>
      answered(machine, unknownRest, async () => {
        await removeEmptyFolders(client, newFolders);
        return ok(
          files
            .filter(({ link }) => link !== undefined)
            .map(({ name }) => `The link ${name} was not restored: the server there can make none.`),
        );
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
