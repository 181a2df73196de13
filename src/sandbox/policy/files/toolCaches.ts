import { join } from 'node:path';

/** A folder in which a tool keeps what it downloaded or made, often beside other things. Relative to the home folder. */
export interface ToolCache {
  readonly folder: string;
  /** Who uses it; none: everybody. */
  readonly programs: readonly string[];
  /** What of the person's own stays readable in it where it is private: programs and settings, never credentials. */
  readonly keeps: readonly string[];
  /** The parts of it that are cache and nothing else: writable where it is shared. */
  readonly parts: readonly string[];
}

const whole = ['.'];

export const toolCaches: readonly ToolCache[] = [
  { folder: '.cache', programs: [], keeps: [], parts: whole },
  { folder: '.npm', programs: ['npm'], keeps: [], parts: ['_cacache', '_npx'] },
  { folder: '.deno/deps', programs: ['deno'], keeps: [], parts: whole },
  { folder: '.yarn', programs: ['yarn'], keeps: ['bin'], parts: ['berry/cache'] },
  { folder: '.local/share/pnpm/store', programs: ['pnpm'], keeps: [], parts: whole },
  { folder: '.bun/install/cache', programs: ['bun'], keeps: [], parts: whole },
  {
    folder: '.cargo',
    programs: ['cargo'],
    keeps: ['bin', 'config', 'config.toml', 'env'],
    parts: ['registry', 'git'],
  },
  { folder: 'go', programs: ['go'], keeps: ['bin'], parts: ['pkg/mod'] },
  { folder: '.gradle', programs: ['java'], keeps: [], parts: ['caches', 'wrapper'] },
  { folder: '.m2', programs: ['java'], keeps: ['toolchains.xml'], parts: ['repository', 'wrapper'] },
  { folder: '.sbt/boot', programs: ['sbt'], keeps: [], parts: whole },
  { folder: '.nuget/packages', programs: ['dotnet'], keeps: [], parts: whole },
  { folder: '.local/share/NuGet', programs: ['dotnet'], keeps: [], parts: whole },
  { folder: '.ivy2/cache', programs: ['sbt', 'ant'], keeps: [], parts: whole },
  { folder: '.composer/cache', programs: ['composer', 'php'], keeps: [], parts: whole },
  { folder: '.bundle/cache', programs: ['bundle', 'ruby'], keeps: [], parts: whole },
  { folder: '.gem/cache', programs: ['gem'], keeps: [], parts: whole },
  { folder: '.pub-cache/hosted', programs: ['dart', 'flutter'], keeps: [], parts: whole },
  { folder: '.cabal/packages', programs: ['cabal'], keeps: [], parts: whole },
  { folder: '.stack/pantry', programs: ['stack'], keeps: [], parts: whole },
  { folder: '.hex/packages', programs: ['mix'], keeps: [], parts: whole },
  { folder: '.conan2/p', programs: ['conan'], keeps: [], parts: whole },
  { folder: '.ccache', programs: ['ccache'], keeps: [], parts: whole },
];

/** What is cache and nothing else, relative to the home folder. */
export const cachePlaces: readonly string[] = toolCaches.flatMap(({ folder, parts }) =>
  parts.map((part) => join(folder, part)),
);
