/**
 * Names at the top of every writable root that stay as they are. The test for a place in this list: an editor, a shell
 * or git obeys it without being asked to run the project (opening the folder, entering it, a prompt that shows the
 * branch), or it gives an agent rights. What a person starts on purpose is the project's own code and the agent's work:
 * `package.json`, `Makefile`, `.npmrc`, `.yarnrc.yml`, `.pre-commit-config.yaml`; workflows in `.github` do not run here.
 */
export const heldNames: readonly string[] = [
  '.git',
  '.codex',
  '.agents',
  '.cordon',
  '.claude',
  '.cursor',
  '.mcp.json',
  '.vscode',
  '.idea',
  '.devcontainer',
  '.devcontainer.json',
  '.envrc',
];

/**
 * Protected where they exist, but not kept from coming to be: a project that has none makes nothing obey them, and
 * every name that is held costs each command a mount.
 */
const keptNames: readonly string[] = [
  '.aws',
  '.gemini',
  '.windsurf',
  '.continue',
  '.roo',
  '.kiro',
  '.opencode',
  '.zed',
  '.husky',
  '.ripgreprc',
  '.gitconfig',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.inputrc',
];

/** Existing or not: those that are held when missing first. */
export const protectedNames: readonly string[] = [...heldNames, ...keptNames];

/** In a root that is the person's home folder: what a login or a shell starts. Held where the folder above exists. */
export const homeNames: readonly string[] = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.gitconfig',
  '.inputrc',
  '.ssh',
  '.config/git',
  '.config/fish',
  '.config/autostart',
  '.config/systemd',
  '.config/environment.d',
];

/** The submodules' addresses: data that git follows only when asked, so commands that run git may write it. */
export const submoduleList = '.gitmodules';

/** An editor obeys the one that is open, whatever its name. */
export function isWorkspaceFile(name: string): boolean {
  return name.endsWith('.code-workspace');
}

/**
 * What git executes or obeys in a repository's own folder. `hooks` and `info` are kept from coming to be by an empty
 * folder, with which git can live. The others cannot: git fails on a folder in their place, so they are watched.
 */
export const executedGitNames = ['hooks', 'info', 'config', 'config.worktree'] as const;
export const heldGitNames: ReadonlySet<string> = new Set(['hooks', 'info']);
