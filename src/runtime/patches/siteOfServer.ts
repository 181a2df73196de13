import { posix } from 'node:path';
import { fail, ok } from '../../base/result.ts';
import type { PatchMachine, PatchSite } from '../../patch/patchSite.ts';
import { withSoundEdits } from '../../patch/plan/soundEdits.ts';
import { resultPath } from '../../patch/review/reviewFile.ts';
import type { ExecClient } from '../execServer/client/execClient.ts';
import { MalformedAnswer } from '../execServer/client/resultOf.ts';
import { uriOf } from '../execServer/protocol/fileUri.ts';
import { planFromWire, planToWire, sizeOfPlan, tooLarge } from '../execServer/services/patches/wirePlan.ts';
import { toWire } from '../execServer/services/sandboxContext/wirePolicy.ts';
import { answered, seenFiles, unknownNothing, unknownRest, unknownWhole } from './siteAnswers.ts';

/**
 * The files of a machine with Cordon's own server, which plans and applies where they are: it judges there, and all or
 * nothing holds there.
 */
export function siteOfServer(client: ExecClient, machine: PatchMachine): PatchSite {
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
        requirePaths(plan.changes.flatMap((change) => [change.path, resultPath(change)]));
        // A person decides by what they see of it.
        const changes = plan.changes.map(withSoundEdits);
        return ok({ plan: { ...plan, changes }, refusals: answer.refusals });
      }),
    apply: ({ plan, policy, accepted }) =>
      answered(machine, unknownWhole, async () => {
        const problemOfSize = tooLarge(sizeOfPlan(plan));
        if (problemOfSize !== undefined) {
          return fail(problemOfSize);
        }
        // Not given up half-way: then nobody would know what became of it.
        const params = { plan: planToWire(plan), policy: toWire(policy), accepted: accepted.map(uriOf) };
        const { problem } = await client.call('cordon/patch/apply', params);
        return problem === undefined ? ok(undefined) : fail(problem);
      }),
    look: ({ paths, policy, withContents }) =>
      answered(machine, unknownNothing, async () => {
        const params = { paths: paths.map(uriOf), policy: toWire(policy), withContents };
        const answer = await client.call('cordon/patch/look', params);
        if ('problem' in answer) {
          return fail(answer.problem);
        }
        const { entries, missingFolders, refusals } = answer;
        requirePaths(missingFolders);
        const seen = entries.map(({ entry, content = '' }, index) => ({
          path: paths[index] ?? '',
          entry,
          bytes: Buffer.from(content, 'base64'),
        }));
        return ok({ files: seenFiles(seen), missingFolders, refusals });
      }),
    completeRestore: ({ newFolders, files }) =>
      answered(machine, unknownRest, async () => {
        const links = files.flatMap(({ path, name, link }) =>
          link === undefined ? [] : [{ path: uriOf(path), name, target: link }],
        );
        const params = { folders: newFolders.map(uriOf), links };
        return ok((await client.call('cordon/patch/completeRestore', params)).problems);
      }),
  };
}

/** They are shown and kept as paths, whatever the other side means by them. */
function requirePaths(paths: readonly string[]): void {
  const wrong = paths.find((path) => path !== posix.resolve(path));
  if (wrong !== undefined) {
    throw new MalformedAnswer(`The exec-server answered with ${JSON.stringify(wrong)}, which is no path.`);
  }
}
