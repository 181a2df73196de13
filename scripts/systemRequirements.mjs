// What the system must offer beyond npm's packages. Installs it where that needs no password,
// otherwise prints the exact command. Alone: `node scripts/systemRequirements.mjs [build|editor|test …]`.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { findChromium } from './chromium.mjs';
import { hasServer } from './vscodeServer.mjs';

const program = (name, packageName = name) => ({
  what: name,
  packages: [packageName],
  isPresent: () => onPath(name),
});

const chromium = {
  what: 'Chromium',
  packages: ['chromium', 'fonts-liberation'],
  isPresent: () => findChromium() !== undefined,
  hint: 'Where the distribution has no such package, install Google Chrome or point CORDON_CHROMIUM at a Chromium.',
};

/** Not on every search path. */
const sshServer = {
  what: 'sshd',
  packages: ['openssh-server'],
  isPresent: () => existsSync('/usr/sbin/sshd'),
};

/** Only for compiling the VS Code server's native modules: not asked for once the server is there. */
const serverBuild = [
  {
    what: 'Kerberos headers',
    packages: ['libkrb5-dev'],
    isPresent: () => existsSync('/usr/include/gssapi.h'),
  },
  program('pkg-config'),
  program('python3'),
  program('make'),
  program('g++'),
];

/** Requirements by what is going to be done; each includes what it builds on. */
const requirements = {
  build: () => [program('gcc')],
  editor: () => [
    ...requirements.build(),
    program('bwrap', 'bubblewrap'),
    program('git'),
    ...(hasServer() ? [] : serverBuild),
  ],
  test: () => [
    ...requirements.editor(),
    chromium,
    program('python3'),
    program('vim'),
    program('top', 'procps'),
    program('curl'),
    program('ssh', 'openssh-client'),
    sshServer,
  ],
};

/** Makes sure of everything for `purpose`; false when something is missing and could not be installed. */
export function ensureRequirements(purpose) {
  if (process.platform !== 'linux') return true;
  let missing = missingFor(purpose);
  if (missing.length === 0) return true;
  const packages = [...new Set(missing.flatMap((one) => one.packages))];
  console.log(`This system lacks ${missing.map((one) => one.what).join(', ')}.`);
  if (onPath('apt-get') && canInstall()) {
    console.log(`Installing: ${packages.join(' ')}`);
    install(packages);
    missing = missingFor(purpose);
    if (missing.length === 0) return true;
    console.error(`Still missing: ${missing.map((one) => one.what).join(', ')}.`);
  }
  console.error(`Please type:\n\n  ${commandFor(packages)}\n`);
  for (const { hint } of missing) if (hint) console.error(hint);
  return false;
}

function missingFor(purpose) {
  return requirements[purpose]().filter((one) => !one.isPresent());
}

function commandFor(packages) {
  const prefix = isRoot() ? '' : 'sudo ';
  return onPath('apt-get')
    ? `${prefix}apt-get update && ${prefix}apt-get install -y ${packages.join(' ')}`
    : `(your package manager's install command for) ${packages.join(' ')}`;
}

function install(packages) {
  const options = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  // A fresh machine often has no package lists, and old ones name versions that are gone.
  asRoot(['apt-get', 'update', '-q']);
  asRoot(['apt-get', 'install', '-q', ...options, ...packages]);
}

function asRoot(argv) {
  const full = [
    ...(isRoot() ? [] : ['sudo', '-n']),
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'NEEDRESTART_MODE=a',
    ...argv,
  ];
  spawnSync(full[0], full.slice(1), { stdio: ['ignore', 'inherit', 'inherit'] });
}

function canInstall() {
  return isRoot() || (onPath('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0);
}

function isRoot() {
  return process.getuid?.() === 0;
}

function onPath(name) {
  try {
    execFileSync('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const purposes = process.argv.slice(2);
  const known = (purposes.length > 0 ? purposes : ['test']).filter((one) => one in requirements);
  process.exitCode = known.map(ensureRequirements).every(Boolean) ? 0 : 1;
}
