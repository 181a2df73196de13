import { dirname, join } from 'node:path';
import type { Denial } from '../describeDenial.ts';
import { isBelow, isInside } from '../paths.ts';
import { deepestRule } from '../policy/fileRules.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import { writableRoots } from '../policy/policy.ts';
import { cureOf, ruleWords } from '../ruleWords.ts';
import type { LocatedComplaint } from './complaints.ts';

/**
 * Explains a write that failed. The last complaint wins: it is what ended the command. A read-only file system,
 * which programs do not report by accident, outranks the vaguer ones. Undefined when nothing speaks of a write.
 */
export function describeWrite(
  complaints: readonly LocatedComplaint[],
  policy: SandboxPolicy,
): Denial | undefined {
  const found =
    complaints.findLast(({ kind, path }) => kind === 'read-only' && path !== undefined) ??
    complaints.findLast(({ kind }) => kind === 'read-only') ??
    complaints.findLast(({ path }) => path !== undefined);
  if (found === undefined) {
    return undefined;
  }
  const path = found.place?.path ?? found.path;
  const what = path === undefined ? 'a write' : `the write to ${path}`;
  const verb = found.kind === 'read-only' && path !== undefined ? 'stopped' : 'likely stopped';
  const { message, ...reason } = reasonFor(path, policy);
  return {
    ...(path !== undefined && { path }),
    ...reason,
    message: `The sandbox ${verb} ${what}: ${message}.`,
  };
}

function reasonFor(path: string | undefined, policy: SandboxPolicy): Denial {
  if (policy.mode === 'read-only') {
    return { clause: 'mode', message: 'this root is read-only', hint: cureOfMode(policy) };
  }
  const rule = path === undefined ? undefined : deepestRule(policy.files, path);
  if (path === undefined || rule === undefined) {
    return outside(policy, 'the folder');
  }
  if (rule.access === 'write') {
    return isInside(path, join(rule.path, '.git')) ? inGit(policy) : metadata;
  }
  // A rule inside of what is open was made for this; the one for the whole machine was not.
  return writableRoots(policy).some((root) => isBelow(rule.path, root)) || rule.source !== 'default'
    ? { clause: 'files', message: `it is read-only by ${ruleWords(rule)}`, hint: cureOf(rule, path, 'write') }
    : outside(policy, dirname(path));
}

function cureOfMode({ sources }: SandboxPolicy): string {
  if (sources.mode === 'untrusted') {
    return 'The workspace is not trusted. If it may be changed, ask the user to trust it.';
  }
  return sources.mode === 'managed'
    ? "Only the machine's administrator can change that."
    : 'If it must write, ask the user to choose workspace-write for this root in the status bar.';
}

function inGit({ git, sources }: SandboxPolicy): Denial {
  if (git === 'writable') {
    return {
      clause: 'git',
      message: 'what git executes (hooks, configuration …) is protected in every mode',
      hint: 'Ask the user to change it outside of the sandbox.',
    };
  }
  return sources.git === 'request'
    ? {
        clause: 'git',
        message: 'only command lines that run git may write in .git',
        hint: 'Call git on the command line itself, or ask the user about cordon.sandbox.git.',
      }
    : {
        clause: 'git',
        message: 'the metadata in .git is read-only for every command',
        hint: 'If git must write there, ask the user to set cordon.sandbox.git to "commands".',
      };
}

const metadata: Denial = {
  clause: 'writableRoots',
  message: 'metadata of tools in a root (.git, .vscode, .agents …) is protected',
  hint: 'If it must write there, ask the user to add the protected folder to cordon.sandbox.writableRoots.',
};

function outside(policy: SandboxPolicy, folder: string): Denial {
  return {
    clause: 'writableRoots',
    message: `writes are limited to ${writableRoots(policy).join(', ')}`,
    hint: `If it must write there, ask the user to add ${folder} to cordon.sandbox.writableRoots.`,
  };
}
