import type { Entry, LinkEntry } from '../files/fileSystem.ts';
import type { DeleteChange, FileBefore, Plan, PlannedChange, UpdateChange } from '../plan/plan.ts';

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
      return [
        {
          path,
          name,
          before: change.replaces === undefined ? missing : linkState(change.replaces),
          after: { kind: 'file', bytes: change.after, mode: change.mode },
        },
      ];
    case 'update':
      return [{ path, name, before: stateOf(change.before), after: updatedState(change) }];
    case 'delete':
      return [{ path, name, before: deletedState(change.before), after: missing }];
    case 'move':
      return [
        { path, name, before: sourceState(change.sourceEntry, change.before), after: missing },
        {
          path: change.toPath,
          name: change.toName,
          before: change.replaced === undefined ? missing : stateOf(change.replaced),
          after: { kind: 'file', bytes: change.after, mode: change.before.entry.mode },
          movedFrom: path,
        },
      ];
  }
}

const missing: ContentState = { kind: 'missing' };

function stateOf({ entry, bytes }: FileBefore): ContentState {
  return { kind: 'file', bytes, mode: entry.mode };
}

function linkState({ target }: LinkEntry): ContentState {
  return { kind: 'link', target };
}

function updatedState({ before, after, mode = before.entry.mode }: UpdateChange): ContentState {
  return { kind: 'file', bytes: after, mode: mode === 'new' ? undefined : mode };
}

function deletedState(before: DeleteChange['before']): ContentState {
  return 'bytes' in before ? stateOf(before) : linkState(before.entry);
}

function sourceState(entry: Entry, before: FileBefore): ContentState {
  return entry.kind === 'link' ? linkState(entry) : stateOf(before);
}
