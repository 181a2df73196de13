import { basename, dirname, join } from 'node:path';
import { isBelow, isInside } from '../../src/sandbox/paths.ts';
import type { Access } from '../../src/sandbox/policy/fileRules.ts';
import { accessTo, deepestRule, globMatcher, unsearchedFolders } from '../../src/sandbox/policy/fileRules.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { writableRoots } from '../../src/sandbox/policy/policy.ts';
import { heldNames, protectedNames } from '../../src/sandbox/policy/protectedNames.ts';
import type { ModelFile, ModelFolder, ModelNode } from './modelFiles.ts';
import { allPaths, newFile, newFolder, nodeAt } from './modelFiles.ts';

export interface Operation {
  readonly name: OperationName;
  readonly path: string;
  /** The second path of `rename` and `link`, the target of `symlink`, the text of a write, the octal mode. */
  readonly other?: string;
}

export const operationNames = [
  ...(['read', 'list', 'stat', 'create', 'append', 'truncate', 'chmod', 'unlink', 'mkdir', 'rmdir'] as const),
  ...(['rename', 'link', 'symlink'] as const),
];
export type OperationName = (typeof operationNames)[number];

/** What an operation shows when it succeeds; undefined when it must fail. */
export type Expectation = string | undefined;

/** `absent`: a read-only empty folder over a name that must not come to be. */
type Shown = Access | 'absent';

/** Where the last name of a path is, with its folder. */
interface Found {
  readonly path: string;
  /** `masked`: something is there that shows nothing of itself. */
  readonly node: ModelNode | 'masked folder' | 'masked file' | undefined;
}

class Refused extends Error {}

/** As the kernel. */
const maxLinks = 40;

/**
 * What commands under a policy may do with files, derived from {@link accessTo} and from what the kernel says about
 * mount points, and nothing else. The tree is changed as the operations change it.
 */
export class PolicyModel {
  readonly #tree: ModelFolder;
  /** What is shown from a path on, where that differs from what is shown around it. */
  readonly #shown = new Map<string, Shown>();
  /** Mount points that show what is shown around them. */
  readonly #pins = new Set<string>();

  /** The tree holds everything that exists at or below the folders that operations reach. */
  constructor(policy: SandboxPolicy, tree: ModelFolder) {
    this.#tree = tree;
    const access = this.#accesses(policy);
    this.#protectMetadata(policy, access);
    this.#shown.set('/', accessTo(policy, '/'));
    const paths = [...access.keys()].sort((a, b) => a.split('/').length - b.split('/').length);
    for (const path of paths) {
      const wanted = access.get(path) as Access;
      const around = this.#around(path);
      if (nodeAt(tree, path) !== undefined) {
        if (wanted !== around) {
          this.#shown.set(path, wanted);
        }
      } else if (around === 'write' && wanted !== 'write') {
        this.#shown.set(this.#firstMissing(path), 'absent');
      }
    }
    this.#pin();
  }

  expect(operation: Operation): Expectation {
    try {
      return this.#operate(operation);
    } catch (error) {
      if (error instanceof Refused) {
        return undefined;
      }
      throw error;
    }
  }

  /** What the policy says about every path that exists or has a rule. */
  #accesses(policy: SandboxPolicy): Map<string, Access> {
    const hasRule = (path: string): boolean => policy.files.some((rule) => rule.path === path);
    const access = new Map(policy.files.map(({ path }) => [path, accessTo(policy, path)]));
    const names = new Map<ModelFile, string[]>();
    const links: string[] = [];
    for (const [path, node] of allPaths(this.#tree)) {
      if (node.kind === 'link') {
        links.push(path);
        continue;
      }
      access.set(path, accessTo(policy, path));
      if (node.kind === 'file') {
        names.set(node, [...(names.get(node) ?? []), path]);
      }
    }
    // A link cannot be hidden itself; what it leads to can.
    for (const link of links) {
      if (!matches(policy, link) || !isSearched(policy, link) || accessTo(policy, link) !== 'none') {
        continue;
      }
      const target = this.#plainTarget(link);
      const holdsRule = policy.files.some(({ path }) => target !== undefined && isInside(path, target));
      if (target !== undefined && !hasRule(target) && !holdsRule) {
        for (const path of access.keys()) {
          if (isInside(path, target) && !hasRule(path)) {
            access.set(path, 'none');
          }
        }
      }
    }
    for (const paths of names.values()) {
      const isWritable = (path: string): boolean => accessTo(policy, path) === 'write';
      const found = paths.filter((path) => isSearched(policy, path));
      const others = found.filter((path) => !hasRule(path));
      // What only `/` hides is no secret.
      if (
        paths.some(
          (path) => access.get(path) === 'none' && (!isLeftOver(policy, path) || found.includes(path)),
        )
      ) {
        others.forEach((path) => access.set(path, 'none'));
      } else if (!paths.every(isWritable)) {
        // Writing to it would write in the other place.
        others.filter(isWritable).forEach((path) => access.set(path, 'read'));
      }
    }
    return access;
  }

  /** Where a link leads on the disk, masks aside. */
  #plainTarget(link: string): string | undefined {
    let at = '/';
    let hops = 0;
    const waiting = link.split('/').filter((part) => part !== '');
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const next = name === '..' ? dirname(at) : join(at, name);
      const node = nodeAt(this.#tree, next);
      if (node === undefined || hops > maxLinks) {
        return undefined;
      }
      if (node.kind === 'link') {
        hops++;
        waiting.unshift(...node.target.split('/').filter((part) => part !== '' && part !== '.'));
        at = node.target.startsWith('/') ? '/' : at;
      } else {
        at = next;
      }
    }
    return at;
  }

  #firstMissing(path: string): string {
    const parent = dirname(path);
    return nodeAt(this.#tree, parent) === undefined ? this.#firstMissing(parent) : path;
  }

  /** The metadata at the top of every writable folder; a rule inside of it was meant. */
  #protectMetadata(policy: SandboxPolicy, access: Map<string, Access>): void {
    // Who opens such a folder means all of it.
    const roots = writableRoots(policy).filter(
      (path) => nodeAt(this.#tree, path)?.kind === 'folder' && !protectedNames.includes(basename(path)),
    );
    for (const root of roots) {
      for (const name of protectedNames) {
        const guarded = join(root, name);
        if (heldNames.includes(name) && nodeAt(this.#tree, guarded) === undefined && !access.has(guarded)) {
          access.set(guarded, 'read');
        }
        for (const [path, wanted] of access) {
          const isOpened = policy.files.some(
            (rule) => isInside(rule.path, guarded) && isInside(path, rule.path),
          );
          if (isInside(path, guarded) && !isOpened && wanted === 'write') {
            access.set(path, 'read');
          }
        }
      }
    }
  }

  /** Folders between a writable mount and one below it cannot be moved. */
  #pin(): void {
    for (const path of this.#shown.keys()) {
      const between: string[] = [];
      let at = dirname(path);
      for (; at !== '/' && !this.#shown.has(at); at = dirname(at)) {
        between.push(at);
      }
      if (path !== '/' && this.#shown.get(at) === 'write') {
        between.forEach((pin) => this.#pins.add(pin));
      }
    }
  }

  #around(path: string): Shown {
    return this.#at(dirname(path));
  }

  #at(path: string): Shown {
    const own = this.#shown.get(path);
    return own ?? (path === '/' ? 'none' : this.#at(dirname(path)));
  }

  #isMountPoint(path: string): boolean {
    return this.#shown.has(path) || this.#pins.has(path);
  }

  #mountOf(path: string): string {
    return path === '/' || this.#isMountPoint(path) ? path : this.#mountOf(dirname(path));
  }

  /** What is at a canonical path, its last name not followed. */
  #look(path: string): Found {
    const shown = this.#at(path);
    if (shown === 'absent') {
      return { path, node: this.#shown.has(path) ? newFolder() : undefined };
    }
    const node = nodeAt(this.#tree, path);
    if (shown !== 'none') {
      return { path, node };
    }
    if (this.#shown.has(path) || this.#leadsOn(path)) {
      return { path, node: node?.kind === 'file' ? 'masked file' : 'masked folder' };
    }
    return { path, node: undefined };
  }

  #leadsOn(path: string): boolean {
    return [...this.#shown].some(([deeper, shown]) => isBelow(deeper, path) && shown !== 'none');
  }

  /** Follows the links on the way, and, on demand, the last name. */
  #find(path: string, isFollowed: boolean, hops = 0): Found {
    if (hops > maxLinks) {
      throw new Refused();
    }
    const names = path.split('/').filter((part) => part !== '' && part !== '.');
    let found = this.#look('/');
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      this.#enter(found);
      if (name === '..') {
        found = this.#look(dirname(found.path));
        continue;
      }
      found = this.#look(join(found.path, name));
      if (found.node === undefined && !isLast) {
        throw new Refused();
      }
      if (typeof found.node === 'object' && found.node.kind === 'link' && (!isLast || isFollowed)) {
        const rest = names.slice(index + 1).join('/');
        return this.#find(
          joined(absolute(dirname(found.path), found.node.target), rest),
          isFollowed,
          hops + 1,
        );
      }
    }
    return found;
  }

  #enter({ path, node }: Found): void {
    if (
      node === 'masked folder' ? !this.#leadsOn(path) : typeof node !== 'object' || node.kind !== 'folder'
    ) {
      throw new Refused();
    }
  }

  /** The place of a new name, or of one that goes: its folder must be writable. */
  #findToChange(path: string): Found & { readonly folder: ModelFolder } {
    const parent = this.#find(dirname(path), true);
    this.#enter(parent);
    const found = this.#look(join(parent.path, basename(path)));
    return { ...found, folder: this.#writable(parent, 'folder') };
  }

  #writable<K extends 'file' | 'folder'>({ path, node }: Found, kind: K): ModelNode & { readonly kind: K } {
    if (typeof node !== 'object' || node.kind !== kind || this.#at(path) !== 'write') {
      throw new Refused();
    }
    return node as ModelNode & { readonly kind: K };
  }

  #operate({ name, path, other = '' }: Operation): string {
    switch (name) {
      case 'read': {
        const { node } = this.#find(path, true);
        return typeof node === 'object' && node.kind === 'file' ? node.content : refuse();
      }
      case 'list': {
        const found = this.#find(path, true);
        return this.#list(found);
      }
      case 'stat': {
        const { node } = this.#find(path, false);
        if (typeof node === 'object') {
          return node.kind;
        }
        return node === 'masked folder' ? 'folder' : node === 'masked file' ? 'other' : refuse();
      }
      case 'create': {
        const place = this.#vacant(path);
        place.folder.children.set(basename(place.path), newFile(other));
        return '';
      }
      case 'append':
        this.#writable(this.#find(path, true), 'file').content += other;
        return '';
      case 'truncate':
        this.#writable(this.#find(path, true), 'file').content = '';
        return '';
      case 'chmod': {
        const found = this.#find(path, true);
        if (
          typeof found.node !== 'object' ||
          found.node.kind === 'link' ||
          this.#at(found.path) !== 'write'
        ) {
          return refuse();
        }
        found.node.mode = parseInt(other, 8);
        return '';
      }
      case 'unlink':
      case 'rmdir':
        return this.#remove(path, name);
      case 'mkdir': {
        const place = this.#vacant(path);
        place.folder.children.set(basename(place.path), newFolder());
        return '';
      }
      case 'rename':
        return this.#rename(path, other);
      case 'link': {
        const old = this.#find(path, false);
        const place = this.#vacant(other);
        if (typeof old.node !== 'object' || old.node.kind === 'folder') {
          return refuse();
        }
        if (this.#mountOf(old.path) !== this.#mountOf(dirname(place.path))) {
          return refuse();
        }
        place.folder.children.set(basename(place.path), old.node);
        return '';
      }
      case 'symlink': {
        const place = this.#vacant(path);
        place.folder.children.set(basename(place.path), { kind: 'link', target: other });
        return '';
      }
    }
  }

  #list({ path, node }: Found): string {
    if (typeof node !== 'object' || node.kind !== 'folder') {
      return refuse();
    }
    const covered = [...this.#shown.keys()].filter((name) => name !== '/' && dirname(name) === path);
    return [...new Set([...node.children.keys(), ...covered.map((name) => basename(name))])].sort().join('/');
  }

  #vacant(path: string): Found & { readonly folder: ModelFolder } {
    const place = this.#findToChange(path);
    return place.node === undefined ? place : refuse();
  }

  #remove(path: string, name: 'unlink' | 'rmdir'): string {
    const { node, folder, path: real } = this.#findToChange(path);
    if (
      typeof node !== 'object' ||
      this.#isMountPoint(real) ||
      (node.kind === 'folder') !== (name === 'rmdir')
    ) {
      return refuse();
    }
    if (node.kind === 'folder' && node.children.size > 0) {
      return refuse();
    }
    folder.children.delete(basename(real));
    return '';
  }

  #rename(path: string, other: string): string {
    const from = this.#findToChange(path);
    const to = this.#findToChange(other);
    if (this.#mountOf(dirname(from.path)) !== this.#mountOf(dirname(to.path))) {
      return refuse();
    }
    const moved = nodeAt(this.#tree, from.path);
    if (moved !== undefined && moved === nodeAt(this.#tree, to.path)) {
      // Two names of one file, or twice the same: nothing happens, not even to a mount point.
      return '';
    }
    if (typeof from.node !== 'object' || (to.node !== undefined && typeof to.node !== 'object')) {
      return refuse();
    }
    if (this.#isMountPoint(from.path) || this.#isMountPoint(to.path) || isBelow(to.path, from.path)) {
      return refuse();
    }
    if (to.node !== undefined) {
      const isFolder = from.node.kind === 'folder';
      if (
        isFolder !== (to.node.kind === 'folder') ||
        (to.node.kind === 'folder' && to.node.children.size > 0)
      ) {
        return refuse();
      }
    }
    from.folder.children.delete(basename(from.path));
    to.folder.children.set(basename(to.path), from.node);
    return '';
  }
}

/** Whether a glob means this very path. */
function matches({ hidden }: SandboxPolicy, path: string): boolean {
  return hidden.some(({ folder, glob }) => {
    const name = isBelow(path, folder) ? path.slice(folder.length + 1) : undefined;
    const isSearched = name?.split('/').every((part) => !unsearchedFolders.has(part));
    return name !== undefined && isSearched === true && globMatcher(glob)(name);
  });
}

/** Hidden by nothing but the rule for everything. */
function isLeftOver({ files }: SandboxPolicy, path: string): boolean {
  const rule = deepestRule(files, path);
  return rule?.path === '/' && rule.access === 'none';
}

/** Whether anybody looks there: in what may be written, and where globs search, hidden surroundings aside. */
function isSearched(policy: SandboxPolicy, path: string): boolean {
  const opened = policy.files.filter((rule) => rule.access !== 'none' && isInside(path, rule.path));
  const isOpenBelow = (folder: string): boolean =>
    accessTo(policy, folder) !== 'none' || opened.some((rule) => isBelow(rule.path, folder));
  return (
    opened.some((rule) => rule.access === 'write' && rule.path !== path) ||
    policy.hidden.some(({ folder }) => isInside(path, folder) && isOpenBelow(folder))
  );
}

function refuse(): never {
  throw new Refused();
}

/** Not normalised: `..` counts after links were followed. */
function absolute(folder: string, target: string): string {
  return target.startsWith('/') ? target : `${folder}/${target}`;
}

function joined(path: string, rest: string): string {
  return rest === '' ? path : `${path}/${rest}`;
}
