import * as vscode from 'vscode';
import type { Allowed } from '../../runtime/approvals/approval.ts';
import type { GrantStore } from '../../runtime/approvals/grantStore.ts';
import { keepGrants } from '../../runtime/approvals/keepGrants.ts';
import { offersAfter, offersBefore } from '../../runtime/approvals/offers.ts';
import { describeWidenings } from '../../runtime/approvals/wideningWords.ts';
import type { DenialRecord } from '../../runtime/denials/denialLog.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { oneLine, withoutIcons, withoutLinks } from '../oneLine.ts';
import type { PolicyStore } from '../policyStore.ts';
import { cureOf } from './cureOf.ts';

export interface AllowDeniedOptions {
  readonly policies: Pick<PolicyStore, 'policyFor'>;
  readonly grants: GrantStore;
  /** Runs the command again, with widenings for this run only. */
  readonly runAgain: (record: DenialRecord, widenings?: readonly Widening[]) => Promise<void>;
}

interface Choice extends vscode.QuickPickItem {
  readonly choose?: () => Promise<void>;
}

/** Offers the grants that would have let a command through, and to run it again. `fix`: only that one. */
export async function allowDenied(
  options: AllowDeniedOptions,
  record: DenialRecord,
  fix?: Widening,
): Promise<void> {
  const cure = cureOf(fix === undefined ? record : { ...record, fixes: [fix] }, options.policies);
  switch (cure.kind) {
    case 'grant':
      // The first is the narrowest.
      await (await pickGrant(options, record, cure.fixes.slice(0, 1)))?.choose?.();
      break;
    case 'allowed': {
      const again = 'Run Again';
      const answer = await vscode.window.showInformationMessage('That is allowed now.', again);
      if (answer === again) {
        await options.runAgain(record);
      }
      break;
    }
    case 'advice':
      await vscode.window.showInformationMessage(withoutLinks(cure.text));
      break;
  }
}

function pickGrant(
  options: AllowDeniedOptions,
  record: DenialRecord,
  fixes: readonly Widening[],
): Thenable<Choice | undefined> {
  const { root } = record;
  const grant = (answer: Allowed): Promise<void> =>
    keepGrants(options.grants, answer, { root, because: record.commandLine });
  const again = allowed(offersAfter(fixes, { root, mayLeave: false })).map(
    ({ label, detail, answer }): Choice => ({
      label,
      detail: withoutIcons(detail),
      choose: async () => {
        await grant(answer);
        await options.runAgain(record, answer.lasts === 'once' ? answer.widenings : []);
      },
    }),
  );
  const only = allowed(offersBefore({ widenings: fixes, prefix: undefined, root }))
    .filter(({ answer }) => answer.lasts !== 'once')
    .map(({ label, detail, answer }): Choice => ({
      label,
      detail: withoutIcons(detail),
      choose: () => grant(answer),
    }));
  return vscode.window.showQuickPick<Choice>(
    [
      ...again,
      ...(only.length === 0
        ? []
        : [{ label: 'without running it again', kind: vscode.QuickPickItemKind.Separator }]),
      ...only,
    ],
    {
      title: `Allow ${oneLine(describeWidenings(fixes), 200).text}?`,
      placeHolder: oneLine(record.commandLine, 200).text,
      matchOnDetail: true,
    },
  );
}

function allowed(offers: ReturnType<typeof offersAfter>) {
  return offers.flatMap(({ label, detail, answer }) =>
    answer.kind === 'allow' ? [{ label, detail, answer }] : [],
  );
}
