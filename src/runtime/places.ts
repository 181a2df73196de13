import { statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import { canonicalize } from '../sandbox/policy/nodeMachine.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import type { Root, Roots } from './roots.ts';

/** Where something takes place, and under which policy. */
export interface Place {
  /** Canonical path of an existing folder. */
  readonly cwd: string;
  readonly root: Root;
  readonly policy: SandboxPolicy;
}

export interface RefusedCommand {
  readonly message: string;
  readonly hint: string;
}

/** The folder, root and policy that a workdir stands for: a root's name, an absolute path, or one relative to the active root. */
export function locatePlace(roots: Roots, workdir: string | undefined): Result<Place, RefusedCommand> {
  const chosen = chooseFolder(roots, workdir);
  if (!chosen.ok) {
    return chosen;
  }
  const cwd = canonicalize(chosen.value.folder);
  if (cwd === undefined || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return fail({
      message: `workdir ${chosen.value.folder} is not an existing folder.`,
      hint: `Pass an existing folder, or leave workdir out to run in ${chosen.value.root.path}.`,
    });
  }
  // A link may lead into another root: the folder that the command really runs in decides the policy.
  const root = rootOf(roots, cwd) ?? chosen.value.root;
  const policy = roots.policyFor(root);
  return policy.ok ? ok({ cwd, root, policy: policy.value }) : fail(policy.error);
}

function chooseFolder(
  roots: Roots,
  workdir: string | undefined,
): Result<{ readonly root: Root; readonly folder: string }, RefusedCommand> {
  const all = roots.list();
  if (all.length === 0) {
    return fail({
      message: 'No folder is open, so there is no sandbox policy to run under.',
      hint: 'Open a folder first.',
    });
  }
  const named = all.find((root) => root.name === workdir);
  if (named !== undefined) {
    return ok({ root: named, folder: named.path });
  }
  const active = roots.active() ?? (all.length === 1 ? all[0] : undefined);
  const root = workdir !== undefined && isAbsolute(workdir) ? (rootOf(roots, workdir) ?? active) : active;
  return root === undefined ? ambiguous(all) : ok({ root, folder: resolve(root.path, workdir ?? '.') });
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
