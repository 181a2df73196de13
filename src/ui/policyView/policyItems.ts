import * as vscode from 'vscode';
import type { Result } from '../../base/result.ts';
import type { PolicyError, Root } from '../../runtime/roots.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { SandboxError } from '../../sandbox/sandboxManager.ts';
import { oneLine } from '../oneLine.ts';
import { policySummary } from '../policyWords.ts';
import { escapeMarkdown } from '../tools/escapeMarkdown.ts';
import { isOwn } from './change.ts';
import type { PolicyRow } from './policyRow.ts';

const maxLength = 200;
const maxTooltipLength = 2_000;

/** The row of a root: what commands may do there in a few words, loud where nothing confines them or none runs. */
export function rootItem(
  root: Root,
  policy: Result<SandboxPolicy, PolicyError>,
  { isExpanded, trouble }: { readonly isExpanded: boolean; readonly trouble: SandboxError | undefined },
): vscode.TreeItem {
  const { summary, icon, tone, facts } = faceOf(policy, trouble);
  const item = new vscode.TreeItem(
    oneLine(root.name, maxLength).text,
    isExpanded ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
  );
  item.id = root.path;
  item.description = summary;
  item.iconPath = themeIcon(icon, tone);
  item.tooltip = tooltip([root.path, summary, ...facts]);
  item.contextValue = 'policy-root';
  item.accessibilityInformation = { label: `Sandbox of ${root.name}, ${spoken(summary)}` };
  return item;
}

interface Face {
  readonly summary: string;
  readonly icon: string;
  readonly tone?: PolicyRow['tone'];
  readonly facts: readonly string[];
}

function faceOf(policy: Result<SandboxPolicy, PolicyError>, trouble: SandboxError | undefined): Face {
  if (!policy.ok) {
    const { message, hint } = policy.error;
    return { summary: 'invalid setting', icon: 'error', tone: 'error', facts: [message, hint] };
  }
  const summary = policySummary(policy.value);
  if (isUnsandboxed(policy.value)) {
    return { summary, icon: 'warning', tone: 'warning', facts: ['Commands run without a sandbox.'] };
  }
  return trouble === undefined
    ? { summary, icon: 'shield', facts: [] }
    : {
        summary: `${summary} · not enforced`,
        icon: 'error',
        tone: 'error',
        facts: [trouble.message, trouble.hint],
      };
}

/** The row of something that holds in a root. */
export function rowItem(root: Root, row: PolicyRow): vscode.TreeItem {
  const { id, source, icon, tone, detail, rows } = row;
  const label = oneLine(row.label, maxLength).text;
  const value = oneLine(row.value, maxLength).text;
  const words = [value, source ?? ''].filter((part) => part !== '').join(' · ');
  const item = new vscode.TreeItem(
    label,
    rows.length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
  );
  item.id = `${root.path}\n${id}`;
  item.description = words;
  item.iconPath = themeIcon(icon, tone);
  item.tooltip = tooltip([
    row.value === '' ? row.label : `${row.label}: ${row.value}`,
    ...detail,
    ...(source === undefined ? [] : [`Decided by: ${source}.`]),
  ]);
  item.contextValue = contextOf(row);
  item.accessibilityInformation = { label: [label, spoken(words)].filter((part) => part !== '').join(', ') };
  return item;
}

function contextOf({ grant, change }: PolicyRow): string {
  if (grant !== undefined) {
    return 'policy-grant';
  }
  return change === undefined ? 'policy-fact' : isOwn(change) ? 'policy-editable' : 'policy-held';
}

const toneColours = { warning: 'list.warningForeground', error: 'list.errorForeground' } as const;

function themeIcon(name: string, tone: PolicyRow['tone']): vscode.ThemeIcon {
  return new vscode.ThemeIcon(
    name,
    tone === undefined ? undefined : new vscode.ThemeColor(toneColours[tone]),
  );
}

function tooltip(paragraphs: readonly string[]): vscode.MarkdownString {
  return new vscode.MarkdownString(
    paragraphs.map((text) => escapeMarkdown(oneLine(text, maxTooltipLength).text)).join('\n\n'),
  );
}

/** For screen readers, which say the dot between parts. */
function spoken(words: string): string {
  return words.replaceAll(' · ', ', ');
}
