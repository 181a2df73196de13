import { dirname, join } from 'node:path';
import { isBelow, isInside } from '../paths.ts';
import { deepestRule } from '../policy/fileRules.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import { writableRoots } from '../policy/policy.ts';
import { cureOf, ruleWords } from '../ruleWords.ts';
import type { Denial } from './denial.ts';

/** Why the policy stops a write, and what to do about it. */
export type Reason = Pick<Denial, 'clause' | 'message' | 'hint'>;

/** For a write that failed though permissions let it through. `path`: canonical, if anybody knows it. */
export function reasonAgainstWrite(path: string | undefined, policy: SandboxPolicy): Reason {
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

function inGit({ git, sources }: SandboxPolicy): Reason {
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

const metadata: Reason = {
  clause: 'writableRoots',
  message: 'metadata of tools in a root (.git, .vscode, .agents …) is protected',
  hint: 'If it must write there, ask the user to add the protected folder to cordon.sandbox.writableRoots.',
};

function outside(policy: SandboxPolicy, folder: string): Reason {
  return {
    clause: 'writableRoots',
    message: `writes are limited to ${writableRoots(policy).join(', ')}`,
    hint: `If it must write there, ask the user to add ${folder} to cordon.sandbox.writableRoots.`,
  };
}
