/** Something that a command left behind with which git would have run something outside of the sandbox. */
export interface Finding {
  readonly path: string;
  readonly what: 'hook' | 'configuration' | 'redirect' | 'rebase' | 'replaced';
  /** One sentence for a person: what it was, and what was done about it. */
  readonly message: string;
}

/** For a name that was taken away when nobody could keep what stood there. */
export function removedRedirect(path: string): Finding {
  return {
    path,
    what: 'redirect',
    message: `A command made ${path}, which redirects git to a configuration of its own: it was removed.`,
  };
}
