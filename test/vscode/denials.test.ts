import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ok } from '../../src/base/result.ts';
import { GrantStore } from '../../src/runtime/approvals/grantStore.ts';
import type { DenialRecord } from '../../src/runtime/denials/denialLog.ts';
import type { Widening } from '../../src/sandbox/policy/widening.ts';
import { allowDenied } from '../../src/ui/denials/allowDenied.ts';
import { policyOf } from '../harness/policyOf.ts';

const root = { name: 'app', path: '/w' };
const fix: Widening = { kind: 'path', path: '/srv', access: 'write' };
const record: DenialRecord = {
  id: 'd1',
  at: Date.now(),
  root,
  sessionId: 3,
  commandLine: 'make $(trash) [all](command:x)',
  cwd: '/w/lib',
  denial: {
    certainty: 'known',
    clause: 'files',
    path: '/srv/a',
    access: 'write',
    message: 'Stopped.',
    hint: 'For models.',
  },
  fixes: [fix],
};

describe('the answers to a denial', () => {
  let grants: GrantStore;
  let runs: (readonly Widening[])[];
  beforeEach(() => {
    grants = new GrantStore();
    runs = [];
  });
  afterEach(() => grants.dispose());

  const narrow = policyOf('/w');
  const wide = policyOf('/w', { writableRoots: ['/w', '/srv'] });
  const options = () => ({
    grants,
    policies: {
      policyFor: (_root: unknown, widenings: readonly Widening[] = []) =>
        ok([...grants.wideningsOf({ path: '/w' }), ...widenings].length > 0 ? wide : narrow),
    },
    runAgain: async (_record: DenialRecord, widenings: readonly Widening[] = []) => {
      runs.push(widenings);
    },
  });

  const cases: readonly (readonly [
    label: string,
    kept: string | undefined,
    ran: readonly Widening[] | undefined,
  ])[] = [
    ['Allow and Run Again Once', undefined, [fix]],
    ['Allow and Run Again for This Session', 'session', []],
    ['Allow and Run Again for an Hour', 'root, ends', []],
    ['Allow and Run Again in This Folder', 'root', []],
    ['Allow for This Session', 'session', undefined],
    ['Allow for an Hour', 'root, ends', undefined],
    ['Allow in This Folder', 'root', undefined],
  ];
  for (const [label, kept, ran] of cases) {
    it(`"${label}" keeps ${kept ?? 'nothing'} and ${ran === undefined ? 'runs nothing' : 'runs it again'}`, async () => {
      const shown = await pickFromList(label, () => allowDenied(options(), record));
      assert.deepEqual(
        grants
          .list({ path: '/w' })
          .map(({ lasts, until }) => (until === undefined ? lasts : `${lasts}, ends`)),
        kept === undefined ? [] : [kept],
      );
      assert.deepEqual(runs, ran === undefined ? [] : [ran]);
      assert.deepEqual(
        shown,
        cases.map(([known]) => known),
        'each is tested here',
      );
    });
  }

  it('are none when it is allowed meanwhile, but to run it again', async () => {
    await grants.add({
      root: '/w',
      what: { kind: 'path', path: '/srv', access: 'write' },
      lasts: 'session',
      because: 'x',
    });
    const original = vscode.window.showInformationMessage;
    Object.assign(vscode.window, { showInformationMessage: async () => 'Run Again' });
    await allowDenied(options(), record);
    Object.assign(vscode.window, { showInformationMessage: original });
    assert.deepEqual(runs, [[]]);
  });
});

/** Picks the entry with that label instead of a person, and gives the labels of all. */
async function pickFromList(label: string, action: () => Promise<void>): Promise<readonly string[]> {
  const original = vscode.window.showQuickPick;
  let shown: readonly vscode.QuickPickItem[] = [];
  Object.assign(vscode.window, {
    showQuickPick: async (items: readonly vscode.QuickPickItem[]) => {
      shown = items.filter(({ kind }) => kind !== vscode.QuickPickItemKind.Separator);
      return shown.find((item) => item.label === label);
    },
  });
  await action();
  Object.assign(vscode.window, { showQuickPick: original });
  return shown.map((item) => item.label);
}
