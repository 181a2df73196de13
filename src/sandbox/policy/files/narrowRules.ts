import type { Access, Decision, FileRule, FileRules, HiddenGlob } from '../fileRules.ts';
import { accesses, decisionOn } from '../fileRules.ts';

/**
 * The rules that give every path the stricter of what both give it. Each set changes its answer only at the paths of
 * its rules and at the matches of its globs, so an answer at every rule's path and all globs together are exact:
 * where a glob matches deeper than any rule both say `none`, and everywhere else the deepest path of both decides.
 */
export function narrowRules(own: FileRules, by: FileRules): FileRules {
  const limits: FileRules = { ...by, files: [...by.files, everything] };
  const hidden = [...own.hidden, ...by.hidden.filter((glob) => !hasGlob(own, glob))];
  const paths = new Set(own.files.map(({ path }) => path));
  const added = by.files.filter(({ path }) => !paths.has(path));
  const narrowed = [...own.files, ...added].map(({ path }) =>
    stricterRule(path, decisionOn(own, path), decisionOn(limits, path)),
  );
  return added.reduce<FileRules>(withoutNeedless, { files: narrowed, hidden });
}

/** What a set that only narrows says about paths that it does not name. */
const everything: FileRule = { path: '/', access: 'write', source: 'default' };

export function stricter(one: Access, other: Access): Access {
  return accesses.indexOf(one) <= accesses.indexOf(other) ? one : other;
}

function hasGlob({ hidden }: FileRules, { folder, glob }: HiddenGlob): boolean {
  return hidden.some((known) => known.folder === folder && known.glob === glob);
}

function stricterRule(path: string, own: Decision, limit: Decision): FileRule {
  const { access, by } = stricter(own.access, limit.access) === own.access ? own : limit;
  if (by === undefined) {
    return { path, access, source: 'default' };
  }
  const writtenAs = 'glob' in by ? by.glob : (by.writtenAs ?? by.path);
  return { path, access, source: by.source, ...(writtenAs !== path && { writtenAs }) };
}

/** Leaves out a path that the rules above give the same access. */
function withoutNeedless({ files, hidden }: FileRules, { path }: FileRule): FileRules {
  const rule = files.find((candidate) => candidate.path === path);
  const rest = { files: files.filter((candidate) => candidate !== rule), hidden };
  return decisionOn(rest, path).access === rule?.access ? rest : { files, hidden };
}
