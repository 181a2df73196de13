import type { FileChange } from '../files/fileSystem.ts';
import type { CreateChange, FileBefore, MoveChange, Plan, PlannedChange } from '../plan/plan.ts';

/** One step of a plan: the change of one entry, and the part of the plan that asks for it. */
export interface FileStep {
  readonly change: FileChange;
  readonly planned: PlannedChange;
}

/** What has to be done to the files, in this order. */
export function fileChangesOf(plan: Plan): FileChange[] {
  return fileStepsOf(plan).map((step) => step.change);
}

export function fileStepsOf(plan: Plan): FileStep[] {
  const gone = new Set<string>();
  return plan.changes.flatMap((planned) =>
    changesOf(planned).map((change) => ({ change: afterOthers(change, gone), planned })),
  );
}

/**
 * The change as it has to be after the ones before. A plan says what was at a path before all of it; an earlier step
 * may have taken that away.
 */
function afterOthers(change: FileChange, gone: Set<string>): FileChange {
  const missing = { kind: 'missing' } as const;
  if (change.kind === 'write') {
    return gone.has(change.path) ? { ...change, expected: missing } : change;
  }
  gone.add(change.path);
  return change.kind === 'rename' && gone.has(change.toPath) ? { ...change, toExpected: missing } : change;
}

/** The entries that a change looks at or changes. */
export function pathsOf(change: FileChange): readonly string[] {
  return change.kind === 'rename' ? [change.path, change.toPath] : [change.path];
}

/** What the plan read at a path before the change; undefined when there was no file. */
export function beforeAt({ planned }: FileStep, path: string): FileBefore | undefined {
  switch (planned.kind) {
    case 'create':
      return undefined;
    case 'update':
      return planned.before;
    case 'delete':
      return 'bytes' in planned.before ? planned.before : undefined;
    case 'move':
      if (path === planned.toPath) {
        return planned.replaced;
      }
      return planned.sourceEntry.kind === 'file' ? planned.before : undefined;
  }
}

function changesOf(planned: PlannedChange): FileChange[] {
  const { path } = planned;
  switch (planned.kind) {
    case 'create':
      return changesOfCreation(planned);
    case 'update':
      return [
        { kind: 'write', path, expected: planned.before.entry, bytes: planned.after, mode: planned.mode },
      ];
    case 'delete':
      return [{ kind: 'remove', path, expected: planned.before.entry }];
    case 'move':
      return changesOfMove(planned);
  }
}

function changesOfCreation({ path, after, mode, replaces }: CreateChange): FileChange[] {
  const creation: FileChange = { kind: 'write', path, expected: { kind: 'missing' }, bytes: after, mode };
  return replaces === undefined ? [creation] : [{ kind: 'remove', path, expected: replaces }, creation];
}

/** A rename keeps the file itself; with new content, or from a link, it is a new file with the source's mode. */
function changesOfMove(move: MoveChange): FileChange[] {
  const { path, sourceEntry, toPath, before, after } = move;
  const toExpected = move.replaced?.entry ?? ({ kind: 'missing' } as const);
  if (sourceEntry.kind === 'file' && after.equals(before.bytes)) {
    return [{ kind: 'rename', path, expected: sourceEntry, toPath, toExpected }];
  }
  return [
    { kind: 'write', path: toPath, expected: toExpected, bytes: after, mode: before.entry.mode },
    { kind: 'remove', path, expected: sourceEntry },
  ];
}
