import { join } from 'node:path';
import type { Location } from './locate.ts';
import { locate } from './locate.ts';
import type { Surroundings } from './places.ts';
import { presentBelow } from './presentBelow.ts';

/**
 * What no command needs to read and every thief wants: keys, tokens, passwords, cookies, mail and what was typed.
 * Missing ones included: they count where a person opened the folder that they would be in.
 */
export function findSecrets(around: Surroundings): readonly Location[] {
  const { homeDir, listFolder } = around;
  const matching = secretPatterns.flatMap(({ folder, name }) =>
    listFolder(join(homeDir, folder))
      .filter((entry) => name.test(entry))
      .map((entry) => join(homeDir, folder, entry)),
  );
  const hostKeys = listFolder('/etc/ssh')
    .filter((entry) => /^ssh_host_.*_key$/.test(entry))
    .map((entry) => join('/etc/ssh', entry));
  const found = [
    ...presentBelow(homeDir, homeSecrets, listFolder),
    ...matching,
    ...machineSecrets,
    ...hostKeys,
  ]
    .map((path) => locate(path, around))
    // A workspace folder that somebody opened is not a secret from its own commands.
    .filter(({ path }) => path !== around.root && path !== homeDir);
  return [...new Map(found.map((place) => [place.path, place])).values()];
}

/** Relative to the home folder. */
const homeSecrets = [
  // Keys
  ...['.ssh', '.gnupg', '.pki', '.putty', '.config/age', '.config/sops', '.age', '.minisign', '.signify'],
  // Clouds and clusters
  ...['.aws', '.azure', '.config/gcloud', '.gsutil', '.boto', '.s3cfg', '.config/rclone', '.oci', '.aliyun'],
  ...['.config/doctl', '.config/hcloud', '.config/linode-cli', '.config/scw', '.bluemix', '.fly', '.netlify'],
  ...[
    '.config/netlify',
    '.config/.wrangler',
    '.wrangler',
    '.config/heroku',
    '.local/share/heroku',
    '.vercel',
  ],
  ...['.config/com.vercel.cli', '.local/share/com.vercel.cli', '.config/configstore', '.railway', '.render'],
  ...[
    '.kube',
    '.docker',
    '.config/containers',
    '.config/helm',
    '.config/argocd',
    '.config/openstack',
    '.minikube',
  ],
  ...[
    '.terraform.d',
    '.terraformrc',
    '.pulumi',
    '.vault-token',
    '.config/op',
    '.databrickscfg',
    '.snowflake',
  ],
  ...['.config/stripe', '.config/ngrok', '.ngrok2', '.cloudflared', '.config/tailscale'],
  // Package managers
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.config/pip', '.pip', '.pypirc', '.config/pypoetry', '.condarc'],
  ...['.config/uv', '.local/share/uv/credentials', '.cargo/credentials', '.cargo/credentials.toml'],
  ...['.gem/credentials', '.local/share/gem/credentials', '.bundle/config', '.m2/settings.xml'],
  ...['.m2/settings-security.xml', '.gradle/gradle.properties', '.gradle/init.gradle', '.nuget/NuGet'],
  ...[
    '.config/NuGet',
    '.composer/auth.json',
    '.config/composer/auth.json',
    '.hex/hex.config',
    '.sbt/credentials',
  ],
  ...['.ivy2/.credentials', '.pub-cache/credentials.json', '.config/dart/pub-credentials.json', '.cpanm'],
  ...[
    '.conan/registry.json',
    '.conan2/credentials.json',
    '.config/coursier/credentials.properties',
    '.twine',
  ],
  // Hosts of repositories and other logins
  ...['.netrc', '_netrc', '.git-credentials', '.config/git/credentials', '.config/gh', '.config/glab-cli'],
  ...['.config/hub', '.config/tea', '.config/jj', '.arcrc', '.hgrc', '.subversion/auth', '.huggingface'],
  ...[
    '.cache/huggingface/token',
    '.cache/huggingface/stored_tokens',
    '.kaggle',
    '.config/wandb',
    '.authinfo',
  ],
  ...[
    '.authinfo.gpg',
    '.pgpass',
    '.my.cnf',
    '.mylogin.cnf',
    '.config/hetzner',
    '.config/sentry',
    '.sentryclirc',
  ],
  // Browsers
  ...['.mozilla', '.librewolf', '.waterfox', '.tor-browser', '.thunderbird', '.config/google-chrome'],
  ...['.config/google-chrome-beta', '.config/google-chrome-unstable', '.config/google-chrome-for-testing'],
  ...['.config/chromium', '.config/BraveSoftware', '.config/microsoft-edge', '.config/microsoft-edge-dev'],
  ...['.config/opera', '.config/vivaldi', '.config/yandex-browser', '.config/falkon', '.config/qutebrowser'],
  ...['.local/share/qutebrowser', '.config/epiphany', '.local/share/epiphany', '.config/arc', '.zen'],
  ...[
    '.var/app',
    'snap',
    '.cache/mozilla',
    '.cache/google-chrome',
    '.cache/chromium',
    '.cache/BraveSoftware',
  ],
  ...['.cache/microsoft-edge', '.config/mozilla'],
  // Mail and messengers
  ...['Mail', 'Maildir', '.mail', '.maildir', '.muttrc', '.mutt', '.config/mutt', '.config/neomutt'],
  ...[
    '.config/aerc',
    '.config/himalaya',
    '.local/share/evolution',
    '.config/evolution',
    '.local/share/geary',
  ],
  ...[
    '.config/Signal',
    '.config/Slack',
    '.config/discord',
    '.config/Element',
    '.local/share/TelegramDesktop',
  ],
  ...[
    '.config/Microsoft',
    '.config/teams-for-linux',
    '.msmtprc',
    '.config/msmtp',
    '.mbsyncrc',
    '.offlineimaprc',
  ],
  // Passwords and wallets
  ...[
    '.password-store',
    '.local/share/keyrings',
    '.local/share/kwalletd',
    '.gnome2/keyrings',
    '.config/Bitwarden',
  ],
  ...[
    '.config/Bitwarden CLI',
    '.config/1Password',
    '.config/keepassxc',
    '.local/share/gopass',
    '.config/gopass',
  ],
  ...['.lastpass', '.config/KeePass', '.bitcoin', '.ethereum', '.electrum', '.config/solana', '.monero'],
  ...[
    '.dogecoin',
    '.litecoin',
    '.config/Exodus',
    '.config/Ledger Live',
    '.config/atomic',
    '.near-credentials',
  ],
  ...['.foundry/keystores', '.config/.foundry'],
  // Agents and editors
  ...['.codex', '.claude', '.claude.json', '.config/claude', '.config/Claude', '.gemini', '.config/gemini'],
  ...[
    '.copilot',
    '.config/github-copilot',
    '.cursor',
    '.config/Cursor',
    '.cline',
    '.aider',
    '.aider.conf.yml',
  ],
  ...[
    '.continue',
    '.codeium',
    '.windsurf',
    '.config/Windsurf',
    '.tabnine',
    '.config/TabNine',
    '.roo',
    '.kilocode',
  ],
  ...['.amazonq', '.aws-q', '.config/amp', '.local/share/amp', '.config/opencode', '.local/share/opencode'],
  ...['.config/goose', '.qwen', '.factory', '.grok', '.config/crush', '.local/share/crush', '.openhands'],
  ...['.ollama/id_ed25519', '.config/io.datasette.llm', '.config/openai', '.config/anthropic', '.config/zed'],
  ...[
    '.local/share/zed',
    '.config/Code',
    '.config/Code - Insiders',
    '.config/VSCodium',
    '.vscode-server/data',
  ],
  ...['.vscode-server-insiders/data', '.vscode-remote/data', '.cursor-server/data', '.windsurf-server/data'],
  ...['.vscodium-server/data', '.config/JetBrains', '.local/share/JetBrains'],
  ...['.config/Postman', '.config/Insomnia', '.config/DBeaver', '.local/share/DBeaverData', '.dbvis'],
  ...['.config/filezilla', '.filezilla', '.config/remmina', '.local/share/remmina', '.config/rustdesk'],
  // What was typed
  ...[
    '.bash_history',
    '.zsh_history',
    '.zhistory',
    '.zsh_sessions',
    '.bash_sessions',
    '.histfile',
    '.history',
  ],
  ...[
    '.sh_history',
    '.ksh_history',
    '.local/share/fish/fish_history',
    '.local/share/atuin',
    '.local/share/mcfly',
  ],
  ...[
    '.config/fish/fish_history',
    '.python_history',
    '.node_repl_history',
    '.mysql_history',
    '.psql_history',
  ],
  ...['.sqlite_history', '.rediscli_history', '.mongorc.js', '.mongodb', '.dbshell', '.irb_history'],
  ...[
    '.pry_history',
    '.php_history',
    '.Rhistory',
    '.lesshst',
    '.wget-hsts',
    '.viminfo',
    '.local/share/nushell',
  ],
  ...[
    '.config/nushell/history.txt',
    '.local/share/powershell/PSReadLine',
    '.julia/logs',
    '.ipython/profile_default',
  ],
  ...['.local/share/recently-used.xbel', '.local/state/nvim', '.scala_history', '.jshell_history'],
  // Doors
  ...[
    '.Xauthority',
    '.ICEauthority',
    '.config/pulse/cookie',
    '.dbus',
    '.krb5',
    '.k5login',
    '.rhosts',
    '.shosts',
  ],
];

const machineSecrets = [
  ...['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d'],
  ...['/etc/ssl/private', '/etc/pki/tls/private', '/etc/krb5.keytab', '/etc/letsencrypt', '/etc/wireguard'],
  ...['/etc/openvpn', '/etc/NetworkManager/system-connections', '/etc/rancher', '/etc/kubernetes'],
  ...['/var/lib/kubelet', '/etc/docker/key.json', '/var/lib/systemd/credential.secret'],
  ...['/var/spool/cron', '/var/mail', '/var/spool/mail'],
];

/** Secrets whose names have a number or a name in them. */
const secretPatterns: readonly { readonly folder: string; readonly name: RegExp }[] = [
  { folder: '', name: /^\.(?:zcompdump|zsh_history|bash_history|histfile|psql_history|viminf)./ },
  { folder: '', name: /^\.aider\.(?:chat\.history|input\.history)/ },
  { folder: '.config', name: /^(?:google-chrome|microsoft-edge|vivaldi|opera|Code|Cursor)-/ },
];
