import type { Entry } from '../files/fileSystem.ts';
import type { FileBefore, Plan, PlannedChange } from '../plan/plan.ts';

/** A file of a plan, before and after, with its contents. */
export interface PlannedState {
  readonly path: string;
  readonly name: string;
  readonly before: ContentState;
  readonly after: ContentState;
  readonly movedFrom?: string | undefined;
}

export type ContentState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly mode?: number | undefined }
  | { readonly kind: 'link'; readonly target: string };

/** What each path is before and after the plan; a rename concerns two paths. */
export function plannedStates(plan: Plan): readonly PlannedState[] {
  return plan.changes.flatMap(statesOf);
}

function statesOf(change: PlannedChange): readonly PlannedState[] {
  const { path, name } = change;
  switch (change.kind) {
    case 'create':
      return [{ path, name, before: missing, after: { kind: 'file', bytes: change.after } }];
    case 'update':
      return [{ path, name, before: stateOf(change.before), after: written(change.before, change.after) }];
    case 'delete':
      return [{ path, name, before: deletedState(change.before), after: missing }];
    case 'move':
      return [
        { path, name, before: sourceState(change.sourceEntry, change.before), after: missing },
        {
          path: change.toPath,
          name: change.toName,
          before: change.replaced === undefined ? missing : stateOf(change.replaced),
          after: written(change.before, change.after),
          movedFrom: path,
        },
      ];
  }
}

const missing: ContentState = { kind: 'missing' };

function stateOf({ entry, bytes }: FileBefore): ContentState {
  return { kind: 'file', bytes, mode: entry.mode };
}

function written(before: FileBefore, bytes: Buffer): ContentState {
  return { kind: 'file', bytes, mode: before.entry.mode };
}

function deletedState(before: (PlannedChange & { kind: 'delete' })['before']): ContentState {
  return 'bytes' in before ? stateOf(before) : { kind: 'link', target: before.entry.target };
}

function sourceState(entry: Entry, before: FileBefore): ContentState {
  return entry.kind === 'link' ? { kind: 'link', target: entry.target } : stateOf(before);
}
