import assert from 'node:assert/strict';
import * as vscode from 'vscode';

describe('the extension in the extension host', () => {
  it('activates after startup', async () => {
    const extension = vscode.extensions.getExtension('cordon.cordon');
    assert.ok(extension, 'cordon.cordon is not installed');
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('registers every command that its manifest contributes', async () => {
    const extension = vscode.extensions.getExtension('cordon.cordon');
    const manifest = extension?.packageJSON as {
      contributes?: { commands?: readonly { readonly command: string }[] };
    };
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = (manifest.contributes?.commands ?? [])
      .map(({ command }) => command)
      .filter((command) => !registered.has(command));
    assert.deepEqual(missing, []);
  });

  it('registers every language-model tool that its manifest contributes', () => {
    const extension = vscode.extensions.getExtension('cordon.cordon');
    const manifest = extension?.packageJSON as {
      contributes?: { languageModelTools?: readonly { readonly name: string }[] };
    };
    const registered = new Set(vscode.lm.tools.map(({ name }) => name));
    const missing = (manifest.contributes?.languageModelTools ?? [])
      .map(({ name }) => name)
      .filter((name) => !registered.has(name));
    assert.deepEqual(missing, []);
  });
});
