import { decisionOn } from '../../policy/fileRules.ts';
import { isInside } from '../../paths.ts';
import type { SandboxPolicy } from '../../policy/policy.ts';
import { runFolder } from '../../policy/systemFolders.ts';
import { cureOf, ruleWords } from '../../ruleWords.ts';
import type { SandboxError } from '../../sandboxManager.ts';
import type { Machine } from './machine.ts';
import type { Place } from './places.ts';

/** Why a command cannot start in a folder that the sandbox does not show. `place` decides about the folder. */
export function hiddenFolder(
  cwd: string,
  place: Place | undefined,
  policy: SandboxPolicy,
  machine: Machine,
): SandboxError {
  const { reason, hint } = reasonFor(cwd, place, policy, machine);
  return {
    kind: 'clause-unenforceable',
    message: `The folder ${cwd} is not visible in the sandbox: ${reason}.`,
    hint: `Run the command in a root. ${hint}`,
  };
}

function reasonFor(
  cwd: string,
  place: Place | undefined,
  policy: SandboxPolicy,
  machine: Machine,
): { readonly reason: string; readonly hint: string } {
  if (place?.shows === 'scratch') {
    return place.path === runFolder
      ? {
          reason: `it has a ${runFolder} of its own, without the machine's services`,
          hint: 'A folder in it can be opened by name: add it to cordon.sandbox.writableRoots.',
        }
      : {
          reason: `it has a private ${place.path}`,
          hint: 'Or add the folder to cordon.sandbox.writableRoots, or set cordon.sandbox.tmp to "shared".',
        };
  }
  const own = [machine.runtimeFolder, machine.cacheFolder, ...machine.hiddenFolders].find((folder) =>
    isInside(cwd, folder),
  );
  if (own !== undefined) {
    return { reason: `Cordon keeps its own files in ${own}`, hint: 'No rule can open that folder.' };
  }
  const { access, by } = decisionOn(policy, cwd);
  if (access !== 'none') {
    const target = place?.path ?? cwd;
    return { reason: `a link that the rules hide leads to ${target}`, hint: cureOf(by, target, 'read') };
  }
  const reason = by === undefined ? 'no rule shows it' : `it is hidden by ${ruleWords(by)}`;
  return { reason, hint: cureOf(by, cwd, 'read') };
}
