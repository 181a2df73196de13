import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import { isBelow } from '../paths.ts';
import type { HiddenGlob } from '../policy/fileRules.ts';
import type { SandboxError } from '../sandboxManager.ts';
import type { TreeFindings } from './treeIndex.ts';
import { TreeIndex } from './treeIndex.ts';

/** A person works in a few roots at a time; what was not asked for lately is read anew. */
const maxIndexes = 16;

/** The trees that were looked at lately, each known once. */
export class TreeIndexes {
  readonly #indexes = new Map<string, TreeIndex>();

  /** What all these trees hold; a tree inside of another one is not read twice. */
  async read(
    tops: readonly string[],
    globs: readonly HiddenGlob[],
  ): Promise<Result<TreeFindings, SandboxError>> {
    const outermost = [...new Set(tops)].filter((top) => !tops.some((other) => isBelow(top, other)));
    const all: TreeFindings[] = [];
    for (const top of outermost) {
      const findings = await this.#index(top).read(globs);
      if (!findings.ok) {
        return findings;
      }
      all.push(findings.value);
    }
    return ok(merge(all));
  }

  #index(top: string): TreeIndex {
    const index = this.#indexes.get(top) ?? new TreeIndex(top);
    this.#indexes.delete(top);
    this.#indexes.set(top, index);
    for (const oldest of [...this.#indexes.keys()].slice(0, -maxIndexes)) {
      this.#indexes.delete(oldest);
    }
    return index;
  }
}

function merge(all: readonly TreeFindings[]): TreeFindings {
  const [only] = all;
  if (only !== undefined && all.length === 1) {
    return only;
  }
  return {
    hidden: all.flatMap(({ hidden }) => hidden),
    repositories: all.flatMap(({ repositories }) => repositories),
    bareRepositories: all.flatMap(({ bareRepositories }) => bareRepositories),
    linkedFiles: all.flatMap(({ linkedFiles }) => linkedFiles),
    unlisted: all.flatMap(({ unlisted }) => unlisted),
  };
}
