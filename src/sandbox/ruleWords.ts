import type { Decision, FileRule, HiddenGlob } from './policy/fileRules.ts';
import type { PolicySource } from './policy/policy.ts';

const sourceWords: Readonly<Record<PolicySource, string>> = {
  default: "Cordon's defaults",
  user: 'the user settings',
  profile: 'the profile in use',
  grant: 'the choice made for this root',
  managed: "the administrator's policy",
  workspace: 'the workspace settings',
  untrusted: 'the missing trust in the workspace',
  request: 'this command',
};

/** A rule as a person finds it again: how it is written, and where. */
export function ruleWords(rule: FileRule | HiddenGlob): string {
  const text = 'glob' in rule ? rule.glob : (rule.writtenAs ?? rule.path);
  return `the rule "${text}" of ${sourceWords[rule.source]}`;
}

/** Where a rule can be changed so that a path opens, and how. */
export function cureOf(
  rule: FileRule | HiddenGlob | undefined,
  path: string,
  access: 'read' | 'write',
): string {
  if (rule?.source === 'managed') {
    return "Only the machine's administrator can change that.";
  }
  return rule?.source === 'workspace'
    ? 'The rule is in the workspace settings (cordon.sandbox.files), which the person can change.'
    : `If it must be open, ask the user to add "${path}": "${access}" to cordon.sandbox.files.`;
}

/** Message and hint for a path that the policy hides. */
export function hiddenWords(
  path: string,
  what: 'read' | 'written',
  { by }: Decision,
): { readonly message: string; readonly hint: string } {
  const reason = by === undefined ? 'no rule shows it' : `it is hidden by ${ruleWords(by)}`;
  return {
    message: `${path} may not be ${what}: ${reason}.`,
    hint: cureOf(by, path, what === 'read' ? 'read' : 'write'),
  };
}
