/**
 * A name that mounts cannot keep as it is: a symbolic link, or a file that must not come to be where git fails on a
 * folder. It is watched during the run and put right, at the latest afterwards.
 */
export interface Guard {
  readonly path: string;
  /** A file's content, a link's target, or nothing at all. */
  readonly expected:
    | { readonly kind: 'file'; readonly content: string }
    | { readonly kind: 'link'; readonly target: string }
    | { readonly kind: 'absent' };
  /** Whether git itself has reasons to remove it: the pointer of a worktree that goes. */
  readonly mayGo: boolean;
}
