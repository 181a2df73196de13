import type { ImportedPolicy } from '../sandbox/importers/importedPolicy.ts';
import type { Widening } from '../sandbox/importers/widening.ts';
import type { PolicyError } from '../runtime/roots.ts';
import type { Result } from '../base/result.ts';
import { table } from './textTable.ts';

export interface ImportPreview {
  readonly program: string;
  readonly place: string;
  readonly policy: ImportedPolicy;
  /** The name that the profile would get. */
  readonly profileName: string;
  /** The profile in use so far. */
  readonly previous: string;
  /** What becomes wider than the settings of now, or why the profile would not be valid. */
  readonly widenings: Result<readonly Widening[], PolicyError>;
}

/** What an import would set, what becomes wider by it and what is lost, as Markdown. */
export function importPreviewPage(preview: ImportPreview): string {
  const { program, place, policy, profileName, previous, widenings } = preview;
  const settings = {
    'cordon.sandbox.profile': profileName,
    'cordon.sandbox.profiles': { [profileName]: policy.settings },
  };
  return [
    `# Import from ${program}`,
    `“${policy.name}” in ${place}, as the profile “${profileName}”. Nothing is set yet.`,
    '## What would be set',
    `\`\`\`json\n${JSON.stringify(settings, undefined, 2)}\n\`\`\``,
    `Nothing of yours is overwritten: the profile is added, and chosen${previous === '' ? '' : ` in place of “${previous}”`}. To undo it, remove it from cordon.sandbox.profiles and empty cordon.sandbox.profile.`,
    '## Wider than your settings now',
    ...wideningLines(widenings),
    '## Not carried over, or different',
    policy.notes.length === 0
      ? 'Nothing: the profile says everything.'
      : policy.notes.map(({ what, why }) => `- \`${what}\`: ${why}`).join('\n'),
    '',
  ].join('\n\n');
}

function wideningLines(widenings: ImportPreview['widenings']): readonly string[] {
  if (!widenings.ok) {
    const { message, hint } = widenings.error;
    return [`The profile would not be valid, so it cannot be applied. ${message} ${hint}`];
  }
  return widenings.value.length === 0
    ? ['Nothing: commands may do no more than now.']
    : [
        'Commands would be allowed this, which they are not now:',
        table(
          ['clause', 'change'],
          widenings.value.map(({ clause, what }) => [clause, what]),
        ),
      ];
}
