import { decisionOn } from './policy/fileRules.ts';
import type { PolicyClause, SandboxPolicy } from './policy/policy.ts';
import { isUnsandboxed } from './policy/policy.ts';
import { hiddenWords } from './ruleWords.ts';

/** A read that the policy does not allow. */
export interface ReadRefusal {
  readonly path: string;
  readonly clause: PolicyClause;
  readonly message: string;
  readonly hint: string;
}

/** Judges a read by this process itself for somebody whose commands are confined; undefined means allowed. */
export type ReadAccess = (path: string) => ReadRefusal | undefined;

/** The policy's answer for single reads: whatever its rules and globs do not hide. Paths must be canonical. */
export function readAccess(policy: SandboxPolicy): ReadAccess {
  if (isUnsandboxed(policy)) {
    return () => undefined;
  }
  return (path) => {
    const decision = decisionOn(policy, path);
    return decision.access === 'none'
      ? { path, clause: 'files', ...hiddenWords(path, 'read', decision) }
      : undefined;
  };
}
