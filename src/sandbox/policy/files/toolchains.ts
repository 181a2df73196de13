import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { isBelow } from '../../paths.ts';
import type { Location } from './locate.ts';
import { locate } from './locate.ts';
import type { Surroundings } from './places.ts';
import { presentBelow } from './presentBelow.ts';

/**
 * Programs in the home folder, and what they need to start: existing folders of version managers and installers, and
 * whatever the search path leads to. Credentials that some keep in the same folders are in the list of secrets.
 */
export function findToolchains(around: Surroundings): readonly Location[] {
  const home = around.homeDir;
  const found = [
    ...presentBelow(home, toolchainPlaces, around.listFolder),
    ...sharedPlaces,
    ...fromSearchPath(around),
  ]
    .map((path) => locate(path, around))
    .filter(({ path, exists }) => exists && path !== home && !isBelow(home, path));
  return [...new Map(found.map((place) => [place.path, place])).values()];
}

/** Not in anybody's home, but where homes are hidden. */
const sharedPlaces = ['/home/linuxbrew/.linuxbrew'];

/** Relative to the home folder. */
const toolchainPlaces = [
  // JavaScript
  ...['.nvm', '.config/nvm', '.fnm', '.local/share/fnm', '.volta', '.nodenv', 'n', '.npm-global'],
  ...['.deno/bin', '.bun/bin', '.bun/install/global', '.local/share/pnpm', '.yarn/bin'],
  ...['.config/yarn/global/node_modules', '.npm-packages', '.node_modules'],
  // Several languages
  ...['.asdf', '.local/share/asdf', '.local/share/mise', '.local/share/rtx', '.config/mise', '.proto'],
  ...['.nix-profile', '.local/state/nix/profiles', '.linuxbrew', '.pixi/bin', '.pixi/envs'],
  // Python
  ...['.pyenv', '.local/share/pipx', '.local/pipx', '.local/share/uv', '.local/share/virtualenvs'],
  ...['.virtualenvs', '.cache/pypoetry/virtualenvs', '.local/share/pypoetry', '.poetry', '.rye'],
  ...['.conda/envs', '.conda/pkgs', '.local/share/hatch/env'],
  ...['anaconda3', 'miniconda3', 'miniforge3', 'mambaforge', 'micromamba', '.local/share/mamba'],
  // Ruby, PHP, Perl, Lua
  ...['.rbenv', '.rvm', '.gem/ruby', '.local/share/gem/ruby', '.phpenv', '.config/composer/vendor'],
  ...['.composer/vendor', '.plenv', 'perl5', '.luarocks/bin', '.luarocks/lib', '.luarocks/share'],
  // Rust, Go, C, Zig, Swift
  ...['.rustup', '.cargo/bin', '.cargo/env', '.goenv', '.gvm', 'go/bin', 'sdk', '.zvm'],
  ...['.local/share/swiftly', '.swiftly'],
  // Java, Kotlin, Scala, .NET
  ...['.sdkman', '.jenv', '.jabba', '.jdks', '.local/share/coursier', '.jbang/bin', '.dotnet'],
  // Haskell, OCaml, Elixir, Lean, Julia
  ...[
    '.ghcup',
    '.cabal/bin',
    '.stack/programs',
    '.opam',
    '.kiex',
    '.kerl',
    '.elan',
    '.juliaup',
    '.julia/juliaup',
  ],
  // Mobile
  ...['flutter', 'development/flutter', 'fvm/versions', '.pub-cache/bin', 'Android/Sdk', '.android/sdk'],
  // Tools of the command line
  ...['bin', '.bin', '.local/bin', '.local/lib', '.local/opt', '.local/share/man', '.krew', '.tfenv'],
  ...['.arkade/bin', '.foundry/bin', '.fzf', '.local/share/bash-completion'],
  // The editor's own Node
  ...['.vscode-server/bin', '.vscode-server/cli', '.vscode-server-insiders/bin', '.vscode-remote/bin'],
  ...['.cursor-server/bin', '.windsurf-server/bin', '.vscodium-server/bin'],
  // What git does not do without
  ...['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'],
];

/** The home folder's own folders for everything: one of them has more in it than the programs of its `bin`. */
const sharedParents = ['.local', '.config', '.cache', '.local/share', 'Library'];

/** A program finds its libraries beside its `bin`, so the folder above is opened where it is the program's own. */
function fromSearchPath({ homeDir, searchPath }: Surroundings): readonly string[] {
  const shared = new Set(sharedParents.map((name) => join(homeDir, name)));
  return searchPath
    .split(':')
    .filter((entry) => isAbsolute(entry) && isBelow(normalize(entry), homeDir))
    .map((entry) => normalize(entry).replace(/\/+$/, ''))
    .map((folder) => {
      const above = dirname(folder);
      // `~/work/bin` lies beside other work, `~/.tool/bin` beside the rest of the tool.
      const isPersons = above === homeDir || (dirname(above) === homeDir && !basename(above).startsWith('.'));
      return basename(folder) === 'bin' && !isPersons && !shared.has(above) ? above : folder;
    });
}
