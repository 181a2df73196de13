import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { silentLog } from '../../src/base/log.ts';
import { AuditLog } from '../../src/runtime/audit/auditLog.ts';
import type { AuditFilter } from '../../src/runtime/audit/auditFilter.ts';
import { showAuditLog } from '../../src/ui/audit/openAuditLog.ts';
import { decisionOn, endOf } from '../harness/auditEvents.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { waitFor } from '../harness/waitFor.ts';

describe('Cordon: Open Audit Log', () => {
  it('asks three questions, and shows the log read-only', async () => {
    const opened = vscode.commands.executeCommand('cordon.openAuditLog');
    const accepting = setInterval(
      () => void vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem'),
      100,
    );
    await opened;
    clearInterval(accepting);
    const { document } = await waitFor('the page', () => vscode.window.activeTextEditor);
    assert.match(document.getText(), /^# Audit log\n\nEntries of all folders; newest first\.\n/);
    assert.equal(document.uri.scheme, 'cordon-page');
    assert.equal(vscode.workspace.fs.isWritableFileSystem(document.uri.scheme) ?? false, false);
  });

  it('shows the newest entries that fit, and where they are', async () => {
    const folder = await createTemporaryFolder('audit');
    const audit = new AuditLog({ folder: folder.path, environment: { MY_TOKEN: 'planted' }, log: silentLog });
    audit.record(decisionOn('npm test planted'));
    audit.record(decisionOn('npm publish', { decision: 'refuse', by: 'rule', root: '/v' }));
    audit.record(endOf('npm test', { denials: [{ clause: 'files', path: '/secret/place' }] }));
    const page = async (filter: AuditFilter): Promise<string> => {
      let text = '';
      const pages = {
        show: async (_title: string, render: () => string) => {
          text = render();
        },
      };
      await showAuditLog(filter, { audit, folder: folder.path, pages });
      return text;
    };
    const all = await page({});
    assert.match(
      all,
      /denied +npm test\n.*stopped \/secret\/place \(files\).*\n.*refused +npm publish\n.*\n.*allowed +npm test \[redacted\]\n/,
    );
    assert.ok(all.includes(`JSON lines in ${folder.path}`));
    assert.match(
      await page({ root: '/v' }),
      /^# Audit log\n\nEntries of \/v; newest first\.\n\n\S+ \S+  refused   npm publish\n/,
    );
    assert.match(
      await page({ outcome: 'asked', command: 'x' }),
      /with “x” in the command; newest first\.\n\nNothing was found\./,
    );
    await audit.dispose();
    await folder.dispose();
  });
});
