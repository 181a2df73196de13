import { isAbsolute, relative } from 'node:path';
import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import type { Machine, MachineOf } from './machines/machine.ts';
import type { Root, Roots } from './roots.ts';

/** Where something takes place, and under which policy. */
export interface Place {
  /** The machine that it is on, which the root was found to have at that moment. */
  readonly machine: Machine;
  /** Canonical path of an existing folder there. */
  readonly cwd: string;
  readonly root: Root;
  readonly policy: SandboxPolicy;
}

export interface RefusedCommand {
  readonly message: string;
  readonly hint: string;
}

/** The folder, root and policy that a workdir stands for: a root's name, an absolute path, or one relative to the active root. */
export async function locatePlace(
  roots: Roots,
  machineOf: MachineOf,
  workdir: string | undefined,
): Promise<Result<Place, RefusedCommand>> {
  const chosen = chooseRoot(roots, workdir);
  if (!chosen.ok) {
    return chosen;
  }
  const found = await machineOf(chosen.value.root);
  if (!found.ok) {
    return found;
  }
  const machine = found.value;
  const folder = machine.pathOf(chosen.value.root, chosen.value.path);
  const real = await machine.realFolder(folder);
  if (!real.ok) {
    return real;
  }
  const cwd = real.value;
  if (cwd === undefined) {
    const { root } = chosen.value;
    const home = machine.pathOf(root, '.');
    if (folder === home && root.environment !== undefined) {
      return fail({
        message: `${home}, the folder of the environment ${root.environment}, does not exist there.`,
        hint: `Make it on that machine, or correct cordon.environments.${root.environment}.folder in the settings.`,
      });
    }
    return fail({
      message: `workdir ${folder} is not an existing folder${placeWords(root)}.`,
      hint: `Pass an existing folder, or leave workdir out to run in ${home}.`,
    });
  }
  // A link may lead into another root: the folder that the command really runs in decides the policy.
  const root =
    chosen.value.root.environment === undefined
      ? (rootOf(roots, cwd) ?? chosen.value.root)
      : chosen.value.root;
  if (root.environment !== chosen.value.root.environment) {
    return locatePlace(roots, machineOf, cwd);
  }
  const policy = await machine.policyFor(root, []);
  return policy.ok ? ok({ machine, cwd, root, policy: policy.value }) : fail(policy.error);
}

function placeWords({ environment }: Root): string {
  return environment === undefined ? '' : ` on ${environment}`;
}

function chooseRoot(
  roots: Roots,
  workdir: string | undefined,
): Result<{ readonly root: Root; readonly path: string }, RefusedCommand> {
  const all = roots.list();
  if (all.length === 0) {
    return fail({
      message: 'No folder is open, so there is no sandbox policy to run under.',
      hint: 'Open a folder first.',
    });
  }
  const named = all.find((root) => root.name === workdir);
  if (named !== undefined) {
    return ok({ root: named, path: '.' });
  }
  const active = roots.active() ?? (all.length === 1 ? all[0] : undefined);
  const root = workdir !== undefined && isAbsolute(workdir) ? (rootOf(roots, workdir) ?? active) : active;
  return root === undefined ? ambiguous(all) : ok({ root, path: workdir ?? '.' });
}

function ambiguous(roots: readonly Root[]): Result<never, RefusedCommand> {
  const names = roots.map((root) => `${root.name} (${root.path})`);
  return fail({
    message: 'Several folders are open and none of them is active, so workdir is required.',
    hint: `Pass workdir as the name or path of one of: ${names.join(', ')}.`,
  });
}

/** The deepest root that contains a path. */
function rootOf(roots: Roots, path: string): Root | undefined {
  return roots
    .list()
    .filter((root) => !relative(root.path, path).startsWith('..'))
    .sort((a, b) => b.path.length - a.path.length)[0];
}
