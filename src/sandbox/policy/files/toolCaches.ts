import { join } from 'node:path';

/** A folder in which a tool keeps what it downloaded or made, often beside other things. Relative to the home folder. */
export interface ToolCache {
  readonly folder: string;
  /** What of the person's own stays readable in it where it is private: programs and settings, never credentials. */
  readonly keeps: readonly string[];
  /** The parts of it that are cache and nothing else: writable where it is shared. */
  readonly parts: readonly string[];
}

const whole = ['.'];

export const toolCaches: readonly ToolCache[] = [
  { folder: '.cache', keeps: [], parts: whole },
  { folder: '.npm', keeps: [], parts: ['_cacache', '_npx'] },
  { folder: '.deno/deps', keeps: [], parts: whole },
  { folder: '.yarn', keeps: ['bin'], parts: ['berry/cache'] },
  { folder: '.local/share/pnpm/store', keeps: [], parts: whole },
  { folder: '.bun/install/cache', keeps: [], parts: whole },
  {
    folder: '.cargo',
    keeps: ['bin', 'config', 'config.toml', 'env'],
    parts: ['registry', 'git'],
  },
  { folder: 'go', keeps: ['bin'], parts: ['pkg/mod'] },
  { folder: '.gradle', keeps: [], parts: ['caches', 'wrapper'] },
  { folder: '.m2', keeps: ['toolchains.xml'], parts: ['repository', 'wrapper'] },
  { folder: '.sbt/boot', keeps: [], parts: whole },
  { folder: '.nuget/packages', keeps: [], parts: whole },
  { folder: '.local/share/NuGet', keeps: [], parts: whole },
  { folder: '.ivy2/cache', keeps: [], parts: whole },
  { folder: '.composer/cache', keeps: [], parts: whole },
  { folder: '.bundle/cache', keeps: [], parts: whole },
  { folder: '.gem/cache', keeps: [], parts: whole },
  { folder: '.pub-cache/hosted', keeps: [], parts: whole },
  { folder: '.cabal/packages', keeps: [], parts: whole },
  { folder: '.stack/pantry', keeps: [], parts: whole },
  { folder: '.hex/packages', keeps: [], parts: whole },
  { folder: '.conan2/p', keeps: [], parts: whole },
  { folder: '.ccache', keeps: [], parts: whole },
];

/** What is cache and nothing else, relative to the home folder. */
export const cachePlaces: readonly string[] = toolCaches.flatMap(({ folder, parts }) =>
  parts.map((part) => join(folder, part)),
);
