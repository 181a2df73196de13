/** Names below every writable root with which tools and editors are made to run something. */
export const protectedNames = ['.git', '.codex', '.agents', '.vscode', '.cordon'] as const;

/** What stays protected in a repository's folder that a person made writable, so that commits work and hooks do not. */
export const executedGitNames = [
  'hooks',
  'config',
  'config.worktree',
  'info',
  'modules',
  'worktrees',
  'commondir',
] as const;
