import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const sources = join(import.meta.dirname, '../../../src');

/**
 * The editor makes links of `[text](command:…)` in notifications, and runs the command at a click. Names of files,
 * command lines and what another machine answers are in many of them.
 */
describe('notifications', () => {
  it('have no text that others could make a link in', () => {
    const texts = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => notificationTexts(path, readFileSync(join(sources, path), 'utf8')));
    assert.ok(texts.length > 40);
    assert.deepEqual(
      texts.filter(({ text }) => !/^'|^withoutLinks\(/.test(text)),
      [],
    );
  });

  it('are found, and told from those without such text', () => {
    const found = notificationTexts(
      'x.ts',
      `vscode.window.showErrorMessage(\`a \${b}\`, c); window.showWarningMessage('a'); show.other(b);`,
    );
    assert.deepEqual(
      found.map(({ text }) => text),
      ['`a ${b}`', `'a'`],
    );
  });
});

interface NotificationText {
  readonly path: string;
  /** As it is written. */
  readonly text: string;
}

function notificationTexts(path: string, source: string): readonly NotificationText[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const texts: NotificationText[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isCallExpression(node) &&
      /\bshow(Information|Warning|Error)Message$/.test(node.expression.getText())
    ) {
      texts.push({ path, text: node.arguments[0]?.getText() ?? '' });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}
