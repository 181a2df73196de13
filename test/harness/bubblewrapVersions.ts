/** The options that each version of bubblewrap added; what is not named here is of 0.3.3 or older. */
const added: Readonly<Record<string, readonly string[]>> = {
  '0.4.0': ['pidns', 'userns', 'userns2'],
  '0.5.0': ['chmod', 'clearenv', 'perms'],
  '0.6.0': ['add-seccomp-fd'],
  '0.8.0': ['assert-userns-disabled', 'disable-userns', 'size'],
  '0.9.0': ['argv0'],
  '0.10.0': ['bind-fd', 'ro-bind-fd'],
  '0.11.0': ['level-prefix', 'overlay', 'overlay-src', 'ro-overlay', 'tmp-overlay'],
};

const oldest = [
  ...['args', 'as-pid-1', 'bind', 'bind-data', 'bind-try', 'block-fd', 'cap-add', 'cap-drop', 'chdir', 'dev'],
  ...[
    'dev-bind',
    'dev-bind-try',
    'die-with-parent',
    'dir',
    'exec-label',
    'file',
    'file-label',
    'gid',
    'help',
  ],
  ...['hostname', 'info-fd', 'json-status-fd', 'lock-file', 'mqueue', 'new-session', 'proc', 'remount-ro'],
  ...['ro-bind', 'ro-bind-data', 'ro-bind-try', 'seccomp', 'setenv', 'share-net', 'symlink', 'sync-fd'],
  ...['tmpfs', 'uid', 'unsetenv', 'unshare-all', 'unshare-cgroup', 'unshare-cgroup-try', 'unshare-ipc'],
  ...['unshare-net', 'unshare-pid', 'unshare-user', 'unshare-user-try', 'unshare-uts', 'userns-block-fd'],
  ...['version'],
];

export const bubblewrapVersions: readonly string[] = Object.keys(added);

/** Every option that a version knows, with its dashes. */
export function optionsOf(version: string): readonly string[] {
  const known = bubblewrapVersions.slice(0, bubblewrapVersions.indexOf(version) + 1);
  return [...oldest, ...known.flatMap((name) => added[name] ?? [])].map((name) => `--${name}`);
}

/** What `--help` prints, reduced to the names of the options. */
export function helpOf(version: string): string {
  return optionsOf(version)
    .map((option) => `    ${option}\n`)
    .join('');
}
