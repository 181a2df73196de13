import assert from 'node:assert/strict';
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { openEditor } from './harness.ts';
import type { Editor } from './harness.ts';

describe('a machine without bubblewrap', () => {
  let editor: Editor;
  let programs: Awaited<ReturnType<typeof createTemporaryFolder>>;

  before(async () => {
    programs = await createTemporaryFolder('programs');
    linkProgramsExcept('bwrap', programs.path);
    // The editor takes PATH from a login shell, which would put the system's folders back.
    const shell = join(programs.path, 'plain-shell');
    writeFileSync(shell, '#!/bin/sh\nfor command; do :; done\nexec /bin/sh -c "$command"\n', { mode: 0o755 });
    editor = await openEditor({ env: { PATH: programs.path, SHELL: shell } });
  });

  after(async () => {
    await editor?.dispose();
    await programs?.dispose();
  });

  it('says so in the status bar', async () => {
    await editor.statusBarItem('sandbox').getByText('Sandbox not available').waitFor();
  });

  it('runs nothing, and explains what to do one click away', async () => {
    const { runCommand, answer, notification, waitForText, screenshot, workspace } = editor;
    await runCommand('Cordon: Run Sandboxed…');
    await answer('touch ran-anyway', 'Command to run');
    await (await notification(/bubblewrap/)).getByText('Explain').click();
    await waitForText('apt-get install bubblewrap');
    await screenshot('explain');
    assert.equal(existsSync(join(workspace, 'ran-anyway')), false);
  });
});

function linkProgramsExcept(missing: string, folder: string): void {
  for (const source of (process.env['PATH'] ?? '').split(delimiter).filter(existsSync)) {
    for (const name of readdirSync(source)) {
      if (name !== missing && !existsSync(join(folder, name))) {
        try {
          symlinkSync(join(source, name), join(folder, name));
        } catch {
          // A dangling link of that name is already there; the first on PATH wins anyway.
        }
      }
    }
  }
}
