import type { Words } from '../commands/commandLine.ts';
import { programName } from '../commands/shellScript.ts';

/** Programs that run the text or the file they are given: behind them, options say nothing about what happens. */
const interpreters = new Set([
  ...[
    'ash',
    'bash',
    'dash',
    'elvish',
    'fish',
    'ksh',
    'mksh',
    'nu',
    'rbash',
    'sh',
    'tcsh',
    'csh',
    'xonsh',
    'zsh',
  ],
  ...['cmd', 'powershell', 'pwsh', 'wsl', 'busybox', 'toybox'],
  ...['python', 'pythonw', 'py', 'pyw', 'pypy', 'ipython', 'node', 'nodejs', 'bun', 'deno', 'tsx', 'ts-node'],
  ...['perl', 'ruby', 'irb', 'php', 'lua', 'luajit', 'tclsh', 'expect', 'awk', 'gawk', 'mawk', 'nawk', 'sed'],
  ...[
    'Rscript',
    'R',
    'julia',
    'octave',
    'guile',
    'racket',
    'sbcl',
    'clojure',
    'clj',
    'bb',
    'elixir',
    'iex',
    'erl',
  ],
  ...[
    'groovy',
    'scala',
    'kotlin',
    'jshell',
    'java',
    'swift',
    'ghci',
    'runghc',
    'ocaml',
    'dart',
    'go',
    'osascript',
  ],
  ...['sqlite3', 'psql', 'mysql', 'gdb', 'lldb', 'jq', 'vi', 'vim', 'nvim', 'ed', 'emacs', 'm4'],
]);

/** Programs that run the rest of their words, or the words that they read: nothing behind them is a prefix. */
const wrappers = new Set([
  ...[
    'sudo',
    'doas',
    'su',
    'runuser',
    'pkexec',
    'run0',
    'env',
    'command',
    'builtin',
    'exec',
    'eval',
    'source',
    '.',
  ],
  ...[
    'nice',
    'ionice',
    'nohup',
    'setsid',
    'setpriv',
    'chroot',
    'unshare',
    'nsenter',
    'stdbuf',
    'unbuffer',
    'chrt',
  ],
  ...[
    'timeout',
    'time',
    'watch',
    'entr',
    'xargs',
    'parallel',
    'flock',
    'script',
    'strace',
    'ltrace',
    'taskset',
  ],
  ...['ssh', 'systemd-run', 'caffeinate', 'chronic', 'faketime', 'proxychains4', 'start', 'open', 'xdg-open'],
]);

/** Programs, and commands of programs, that do anything at all until more is said. */
const broad = new Set([
  ...['git', 'gh', 'glab', 'hg', 'jj', 'svn', 'git config', 'git submodule', 'git -c', 'git -C'],
  ...[
    'npm',
    'npm run',
    'npm run-script',
    'npm exec',
    'npx',
    'pnpm',
    'pnpm run',
    'pnpm exec',
    'pnpm dlx',
    'bunx',
  ],
  ...['yarn', 'yarn run', 'yarn exec', 'yarn dlx', 'bun run', 'bun x', 'deno run', 'deno task', 'deno eval'],
  ...['corepack', 'uv', 'uv run', 'uvx', 'pip', 'pipx', 'pipx run', 'poetry', 'poetry run', 'pdm', 'pdm run'],
  ...['conda', 'conda run', 'hatch', 'hatch run', 'rye', 'rye run', 'mise', 'mise exec', 'asdf', 'asdf exec'],
  ...['go run', 'go tool', 'cargo', 'cargo run', 'rustup', 'rustup run', 'dotnet', 'dotnet run', 'bundle'],
  ...[
    'bundle exec',
    'rake',
    'gem',
    'composer',
    'composer exec',
    'mix',
    'mix run',
    'swift run',
    'nix',
    'nix run',
  ],
  ...['nix shell', 'nix develop', 'nix-shell', 'docker', 'docker run', 'docker exec', 'docker compose'],
  ...['docker compose run', 'docker compose exec', 'docker-compose', 'podman', 'podman run', 'podman exec'],
  ...[
    'kubectl',
    'kubectl exec',
    'kubectl run',
    'helm',
    'terraform',
    'ansible',
    'aws',
    'az',
    'gcloud',
    'systemctl',
  ],
  ...[
    'brew',
    'apt',
    'apt-get',
    'dnf',
    'yum',
    'pacman',
    'apk',
    'snap',
    'flatpak',
    'make',
    'just',
    'task',
    'gradle',
  ],
  ...[
    'gradlew',
    'mvn',
    'mvnw',
    'bazel',
    'bazel run',
    'find',
    'fd',
    'rg',
    'tar',
    'zip',
    'rsync',
    'scp',
    'sftp',
  ],
  ...[
    'curl',
    'wget',
    'nc',
    'ncat',
    'socat',
    'telnet',
    'tmux',
    'screen',
    'crontab',
    'at',
    'batch',
    'tee',
    'install',
  ],
]);

/** Programs that destroy what was there. */
const destructive = new Set([
  ...[
    'rm',
    'rmdir',
    'unlink',
    'shred',
    'dd',
    'truncate',
    'mkfs',
    'fdisk',
    'parted',
    'wipefs',
    'chmod',
    'chown',
  ],
  ...[
    'mv',
    'cp',
    'ln',
    'kill',
    'pkill',
    'killall',
    'reboot',
    'shutdown',
    'halt',
    'poweroff',
    'mount',
    'umount',
  ],
  ...['del', 'erase', 'rd', 'format', 'remove-item', 'rmdir'],
]);

/** Commands of other programs that do. */
const destructiveCommands = new Set(['git clean', 'git reset', 'git filter-branch', 'docker system']);

/**
 * Whether a rule for these words would allow whatever somebody puts behind them: interpreters with nothing but options,
 * everything behind a wrapper, programs that need a word more to mean something, and what destroys.
 */
export function isBannedPrefix([path = '', ...rest]: Words): boolean {
  const name = plainName(path);
  const isOpen = rest.every((word) => /^[-/+]/.test(word) || word === '');
  const bare = rest.filter((word) => !/^-/.test(word));
  return (
    name === '' ||
    wrappers.has(name) ||
    destructive.has(name) ||
    (interpreters.has(name) && isOpen) ||
    broad.has([name, ...rest].join(' ')) ||
    broad.has([name, ...bare].join(' ')) ||
    destructiveCommands.has([name, ...bare].slice(0, 2).join(' '))
  );
}

/** `python` for `/usr/bin/python3.12`, `cmd` for `CMD.EXE`. */
function plainName(path: string): string {
  const name = programName(path.replaceAll('\\', '/')).replace(/\.(?:exe|cmd|bat|com)$/i, '');
  const versionless = name.replace(/-?\d+(?:\.\d+)*$/, '');
  return [name, versionless, name.toLowerCase(), versionless.toLowerCase()].find(isKnown) ?? name;
}

function isKnown(name: string): boolean {
  return [interpreters, wrappers, broad, destructive].some((names) => names.has(name));
}
