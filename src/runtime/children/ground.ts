import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { heldRepository } from '../../sandbox/git/heldRepository.ts';
import { loosensGit, pinnedGit } from '../../sandbox/git/pinnedGit.ts';
import { isInside } from '../../sandbox/paths.ts';
import { writableRoots } from '../../sandbox/policy/policy.ts';
import type { HeldPaths } from '../../sandbox/sandboxManager.ts';
import type { PartQuestion } from './partFrames.ts';
import type { RunningScript } from './runningScript.ts';
import type { IsTrusted } from './trustedPrograms.ts';
import { trustedProgram, trustedSearchPath } from './trustedPrograms.ts';
import { WorkFolder } from '../exec/workFolder.ts';

/** What a part needs to run apart from its script, all of it out of the script's reach. To be left in the end. */
export interface Ground {
  /** Its own program, not one that a command has put on the search path. */
  readonly program: string;
  readonly folder: WorkFolder;
  /** On top of the environment that the policy gives. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Surroundings {
  readonly script: Omit<RunningScript, 'machine'>;
  readonly sandbox: HeldPaths;
  readonly searchPath: string;
  /** Canonical paths of the open roots: commands write in all of them. */
  readonly roots: readonly string[];
}

/** Fails with what is in the way, in words that go on a sentence. */
export async function findGround(
  { argv, cwd }: PartQuestion,
  { script, sandbox, searchPath, roots }: Surroundings,
): Promise<Result<Ground, string>> {
  const { policy } = script;
  if (![policy.root, ...writableRoots(policy)].some((folder) => isInside(cwd, folder))) {
    return fail(`its folder ${cwd} is none of this workspace`);
  }
  const isTrusted: IsTrusted = async (path) =>
    !roots.some((root) => isInside(path, root)) && (await sandbox.isHeld(path));
  const trustedPath = await trustedSearchPath(searchPath, isTrusted);
  const [name = ''] = argv;
  const program = await trustedProgram(name, trustedPath, isTrusted);
  if (program === undefined) {
    return fail(`no program ${name} is installed where commands of this workspace could not have put it`);
  }
  const repository = await heldRepository(cwd, sandbox);
  if (repository === 'loose') {
    return fail('what git would run for the repository around it could be from the script itself');
  }
  if (name === 'git' && (repository === 'none' || loosensGit(argv))) {
    return fail(
      repository === 'none'
        ? 'it is in no repository of git'
        : 'of git only fetch, ls-remote, pull and push run apart, in their own repository, and without a program to run among their words',
    );
  }
  const folder = await WorkFolder.open(cwd);
  return folder === undefined
    ? fail(`its folder ${cwd} is not there, or only over a symbolic link`)
    : ok({
        program,
        folder,
        env: { PATH: trustedPath, ...pinnedGit(repository === 'none' ? undefined : repository) },
      });
}
