import * as vscode from 'vscode';
import { networkModes, sandboxModes } from '../../sandbox/policy/policy.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { RootChoice } from '../rootChoices.ts';
import { hostCount, modeWords, networkWords } from '../policyWords.ts';
import { commandIds } from './commandIds.ts';

/** An entry of the picker behind the status bar: a new grant (undefined removes it), or a command to run. */
export interface Choice extends vscode.QuickPickItem {
  readonly grant?: RootChoice | undefined;
  readonly command?: string;
}

/** What a person can choose for a root, with what holds now marked. */
export function sandboxChoices({
  policy,
  grant,
  profiles,
  profile,
  environment,
}: {
  readonly policy: SandboxPolicy;
  readonly grant: RootChoice | undefined;
  readonly profiles: readonly string[];
  readonly profile: unknown;
  readonly environment: string;
}): readonly Choice[] {
  const marked = (...marks: readonly (string | false)[]): { readonly description?: string } => {
    const description = marks.filter((mark) => mark !== false).join(' · ');
    return description === '' ? {} : { description };
  };
  return [
    separator('Files'),
    ...sandboxModes.map((mode) => ({
      ...modeWords[mode],
      ...marked(policy.mode === mode && 'current'),
      grant: { ...grant, mode },
    })),
    separator('Network'),
    ...networkModes.map((network) => ({
      ...networkWords[network],
      ...marked(policy.network === network && 'current', network === 'allow-list' && hostCount(policy)),
      grant: { ...grant, network },
    })),
    ...(profiles.length === 0 ? [] : [separator('Profiles')]),
    ...profiles.map((name) => ({
      label: name,
      detail: 'Your profile decides, in place of what was chosen here.',
      ...marked(profile === name && 'current'),
      grant: { profile: name },
    })),
    separator('More'),
    {
      label: 'Select Environment…',
      detail: 'Which machine runs the commands of this folder.',
      ...marked(environment),
      command: commandIds.selectEnvironment,
    },
    {
      label: 'Show Effective Policy',
      detail: 'Every clause that holds here, and who decided it.',
      command: commandIds.showEffectivePolicy,
    },
    {
      label: 'Check Sandbox',
      detail: 'Whether this machine can enforce it.',
      command: commandIds.checkSandbox,
    },
    {
      label: 'Reset to settings',
      detail: 'Forgets what was chosen here: your settings decide.',
      grant: undefined,
    },
  ];
}

function separator(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
