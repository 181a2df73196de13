import { join, normalize } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { problemWith } from './checkSettings.ts';
import type { Clause } from './clauses.ts';
import { locate } from './files/locate.ts';
import type { PolicyMachine, PolicyProblem } from './input.ts';
import type { Layer, Layers } from './layers.ts';

/** The sockets that commands may connect to: the person's strongest list, and of it what narrowing lists name, too. */
export function socketsClause(
  { person, narrowing }: Layers,
  machine: PolicyMachine,
): Result<Clause<readonly string[]>, PolicyProblem> {
  let clause: Clause<readonly string[]> = { value: [], source: 'default' };
  for (const layer of person) {
    const own = readSockets(layer, machine);
    if (!own.ok) {
      return own;
    }
    clause = own.value === undefined ? clause : { value: own.value, source: layer.owner.source };
  }
  for (const layer of narrowing) {
    const limit = readSockets(layer, machine);
    if (!limit.ok) {
      return limit;
    }
    const value = clause.value.filter((path) => limit.value?.includes(path) !== false);
    clause = value.length === clause.value.length ? clause : { value, source: layer.owner.source };
  }
  return ok(clause);
}

function readSockets(
  { owner, settings }: Layer,
  machine: PolicyMachine,
): Result<readonly string[] | undefined, PolicyProblem> {
  const wrong = settings.sockets?.find((path) => !/^(\/|~\/)[^\0]+$/.test(path));
  if (wrong !== undefined) {
    return fail(
      problemWith(owner, ['sockets'], wrong, 'a list of absolute paths or paths that begin with "~/"'),
    );
  }
  const paths = settings.sockets?.map((path) =>
    path.startsWith('~/') ? join(machine.homeDir, path.slice(2)) : normalize(path),
  );
  return ok(paths && [...new Set(paths.map((path) => locate(path, machine).path))]);
}
