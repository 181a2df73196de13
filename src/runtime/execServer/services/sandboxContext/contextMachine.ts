import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Result } from '../../../../base/result.ts';
import type { PolicyMachine, PolicyProblem } from '../../../../sandbox/policy/input.ts';
import { readManagedPolicy } from '../../../../sandbox/policy/managedPolicy.ts';
import { nodeMachine } from '../../../../sandbox/policy/nodeMachine.ts';
import { temporaryFolders } from '../../../../sandbox/temporaryFolders.ts';

/** What the words of a sandbox context depend on of the machine that enforces it. */
export interface ContextMachine extends PolicyMachine {
  readonly platform: NodeJS.Platform;
  /** What the administrator demands here, whoever asks. */
  readonly managed?: () => Result<unknown, PolicyProblem>;
  /** What `tmpdir` stands for where the context does not say. */
  readonly temporaryDirectories: readonly string[];
  /** Those that every sandbox decides about, canonical. */
  readonly sharedFolders: readonly string[];
  /** The canonical places of all links over which a path is reached, links of links among them. */
  readonly linksTo: (path: string) => readonly string[];
}

/** This machine, as its own environment describes it. */
export function contextMachine(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ContextMachine {
  const temporary = environment['TMPDIR'];
  return {
    ...nodeMachine(environment['PATH'] ?? ''),
    platform: process.platform,
    managed: () => readManagedPolicy(process.platform),
    temporaryDirectories: temporary !== undefined && isAbsolute(temporary) ? [temporary] : [],
    sharedFolders: temporaryFolders(),
    linksTo,
  };
}

/** As the kernel. */
const mostLinks = 40;

function linksTo(path: string): readonly string[] {
  const links: string[] = [];
  const waiting = namesOf(path);
  let at = '/';
  for (let name = waiting.shift(); name !== undefined && links.length <= mostLinks; name = waiting.shift()) {
    const next = name === '..' ? dirname(at) : join(at, name);
    const target = targetOf(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links.push(next);
    waiting.unshift(...namesOf(target));
    at = target.startsWith('/') ? '/' : at;
  }
  return links;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** Undefined for what is no link, and for what this user may not look at: no rule can lead through it either. */
function targetOf(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? readlinkSync(path)
      : undefined;
  } catch {
    return undefined;
  }
}
