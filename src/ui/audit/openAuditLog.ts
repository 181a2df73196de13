import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { AuditEntry } from '../../runtime/audit/auditEntry.ts';
import type { AuditFilter, AuditOutcome } from '../../runtime/audit/auditFilter.ts';
import { auditOutcomes } from '../../runtime/audit/auditFilter.ts';
import type { AuditLog } from '../../runtime/audit/auditLog.ts';
import { readAudit } from '../../runtime/audit/readAudit.ts';
import type { Root, Roots } from '../../runtime/roots.ts';
import { commandIds } from '../commands/commandIds.ts';
import type { TextPages } from '../textPages.ts';
import { auditPage } from './auditPage.ts';

/** As much as a person reads, and an editor shows at once. */
const maxEntries = 2_000;

export interface AuditLogSource {
  readonly audit: Pick<AuditLog, 'flush'>;
  readonly folder: string;
  readonly pages: Pick<TextPages, 'show'>;
}

/** Registers the command that asks what to look for in the audit log, and shows it. */
export function registerOpenAuditLog(roots: Pick<Roots, 'list'>, source: AuditLogSource): Disposable {
  return vscode.commands.registerCommand(commandIds.openAuditLog, async () => {
    const filter = await askFilter(roots.list());
    if (filter !== undefined) {
      await showAuditLog(filter, source);
    }
  });
}

/** Shows what is in the log by now and fits, on a page. */
export async function showAuditLog(
  filter: AuditFilter,
  { audit, folder, pages }: AuditLogSource,
): Promise<void> {
  await audit.flush();
  const { entries, damage } = readAudit(folder, filter);
  const found: AuditEntry[] = [];
  for await (const entry of entries) {
    found.push(entry);
    if (found.length > maxEntries) {
      break;
    }
  }
  const page = auditPage({
    folder,
    filter,
    entries: found.slice(0, maxEntries),
    hasMore: found.length > maxEntries,
    damage,
  });
  await pages.show('Audit Log', () => page);
}

/** Undefined when the person leaves one of the questions. */
async function askFilter(roots: readonly Root[]): Promise<AuditFilter | undefined> {
  const root = await vscode.window.showQuickPick(
    [
      { label: 'All folders', root: undefined },
      ...roots.map(({ name, path }) => ({ label: name, description: path, root: path })),
    ],
    { title: 'Audit log (1 of 3)', placeHolder: 'Of which folder?', matchOnDescription: true },
  );
  const outcome =
    root &&
    (await vscode.window.showQuickPick(
      [
        { label: 'Everything', description: 'decisions, ends, grants', outcome: undefined },
        ...auditOutcomes.map((value) => ({ ...outcomeItems[value], outcome: value })),
      ],
      { title: 'Audit log (2 of 3)', placeHolder: 'Which entries?', matchOnDescription: true },
    ));
  const command =
    outcome &&
    (await vscode.window.showInputBox({
      title: 'Audit log (3 of 3)',
      prompt: 'A part of the command line. Leave it empty for all commands.',
      placeHolder: 'npm',
    }));
  return root === undefined || outcome === undefined || command === undefined
    ? undefined
    : {
        root: root.root,
        outcome: outcome.outcome,
        command: command.trim() === '' ? undefined : command.trim(),
      };
}

const outcomeItems: Readonly<Record<AuditOutcome, { readonly label: string; readonly description: string }>> =
  {
    allowed: { label: 'Allowed', description: 'commands that ran' },
    asked: { label: 'Asked', description: 'commands that a person was asked about' },
    refused: { label: 'Refused', description: 'commands that did not run' },
    denied: { label: 'Denied', description: 'commands of which the sandbox stopped something' },
  };
