import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Grant } from '../../runtime/approvals/grant.ts';
import type { GrantStore } from '../../runtime/approvals/grantStore.ts';
import type { Session } from '../../runtime/sessions/session.ts';
import type { SessionManager } from '../../runtime/sessions/sessionManager.ts';
import { commandIds } from '../commands/commandIds.ts';
import { oneLine, withoutIcons, withoutLinks } from '../oneLine.ts';
import type { PolicyStore } from '../policyStore.ts';
import { grantDescription, grantLabel, grantOrigin } from './grantWords.ts';
import { sessionsBeyond } from './sessionsBeyond.ts';

export interface RevokeGrantsOptions {
  readonly grants: GrantStore;
  readonly policies: PolicyStore;
  readonly sessions: SessionManager;
}

/** Registers the command that takes grants back, and ends what still runs with them if a person wants it. */
export function registerRevokeGrants(options: RevokeGrantsOptions): Disposable {
  return vscode.commands.registerCommand(commandIds.revokeGrants, async () => {
    const entries = entriesOf(options);
    if (entries.length === 0) {
      await vscode.window.showInformationMessage(
        'There are no grants: commands have what the settings give.',
      );
      return;
    }
    const picked = await vscode.window.showQuickPick(entries, {
      canPickMany: true,
      title: 'Revoke Grants',
      placeHolder: 'Which grants do you take back?',
      matchOnDescription: true,
      matchOnDetail: true,
    });
    const revoked = (picked ?? []).flatMap(({ grant }) => grant ?? []);
    if (revoked.length > 0) {
      await revokeGrants(revoked, options);
    }
  });
}

/** Takes grants back at once, and names the sessions that go on with what they allowed. */
export async function revokeGrants(
  revoked: readonly Grant[],
  { grants, policies, sessions }: RevokeGrantsOptions,
): Promise<void> {
  await grants.revoke(revoked.map(({ id }) => id));
  const running = sessionsBeyond(revoked, sessions.list(), policies);
  const done = revoked.length === 1 ? 'The grant is revoked.' : `${revoked.length} grants are revoked.`;
  if (running.length === 0) {
    await vscode.window.showInformationMessage(withoutLinks(done));
    return;
  }
  const end = running.length === 1 ? 'End It' : 'End Them';
  const answer = await vscode.window.showWarningMessage(
    withoutLinks(`${done} What runs already goes on with it: ${running.map(nameOf).join(', ')}.`),
    end,
  );
  if (answer === end) {
    await Promise.all(running.map((session) => session.terminate()));
  }
}

function nameOf({ id, commandLine }: Session): string {
  return `session ${id} “${oneLine(commandLine, 60).text}”`;
}

interface Entry extends vscode.QuickPickItem {
  readonly grant?: Grant;
}

/** The grants of the open folders first. */
function entriesOf({ grants, policies }: RevokeGrantsOptions): readonly Entry[] {
  const now = new Date();
  const roots = policies.list();
  const nameOfRoot = ({ root: path, environment }: Grant): string => {
    const name = roots.find((root) => root.path === path)?.name ?? path;
    return environment === undefined ? name : `${name} on ${environment}`;
  };
  const entries = (some: readonly Grant[]): readonly Entry[] =>
    some.map((grant) => ({
      label: withoutIcons(grantLabel(grant)),
      description: withoutIcons(grantDescription(grant, nameOfRoot(grant), now)),
      detail: withoutIcons(grantOrigin(grant, now)),
      grant,
    }));
  const all = grants.list();
  const isOpen = ({ root }: Grant): boolean => roots.some(({ path }) => path === root);
  const others = entries(all.filter((grant) => !isOpen(grant)));
  return [
    ...entries(all.filter(isOpen)),
    ...(others.length === 0
      ? []
      : [{ label: 'folders that are not open', kind: vscode.QuickPickItemKind.Separator }]),
    ...others,
  ];
}
