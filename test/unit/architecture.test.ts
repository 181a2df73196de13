import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const projectFolder = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

type Room = 'base' | 'sandbox' | 'terminal' | 'patch' | 'runtime' | 'ui' | 'extension' | 'cli';

/** What each room may import besides itself. */
const allowed: Readonly<Record<Room, readonly Room[]>> = {
  base: [],
  sandbox: ['base'],
  terminal: ['base', 'sandbox'],
  patch: ['base', 'sandbox'],
  runtime: ['base', 'sandbox', 'terminal', 'patch'],
  ui: ['base', 'sandbox', 'terminal', 'patch', 'runtime'],
  cli: ['base', 'sandbox', 'terminal', 'patch', 'runtime'],
  extension: ['base', 'sandbox', 'terminal', 'patch', 'runtime', 'ui'],
};

describe('the sources', () => {
  const files = sourceFiles();

  it('import downwards only, and the editor only where it belongs', () => {
    assert.ok(files.length > 0);
    assert.deepEqual(
      files.flatMap(({ path, text }) => importViolations(path, text)),
      [],
    );
  });

  it('have no default exports, no enums and no any', () => {
    assert.deepEqual(
      files.flatMap(({ path, text }) => styleViolations(path, text)),
      [],
    );
  });
});

describe('the import rules', () => {
  const cases: readonly (readonly [file: string, statement: string, isAllowed: boolean])[] = [
    ['src/base/event.ts', `import { ok } from './result.ts';`, true],
    ['src/base/event.ts', `import { x } from '../sandbox/x.ts';`, false],
    ['src/sandbox/x.ts', `import { ok } from '../base/result.ts';`, true],
    ['src/sandbox/x.ts', `import type { Child } from '../terminal/childHandle.ts';`, false],
    ['src/sandbox/linux/x.ts', `export { x } from '../../runtime/x.ts';`, false],
    ['src/patch/plan.ts', `import { x } from '../terminal/x.ts';`, false],
    ['src/terminal/x.ts', `import { x } from '../patch/plan.ts';`, false],
    ['src/terminal/x.ts', `import { x } from '../sandbox/x.ts';`, true],
    ['src/runtime/x.ts', `import { x } from '../patch/plan.ts';`, true],
    ['src/runtime/x.ts', `const ui = await import('../ui/x.ts');`, false],
    ['src/ui/x.ts', `import { activate } from '../extension.ts';`, false],
    ['src/ui/x.ts', `import * as vscode from 'vscode';`, true],
    ['src/cli/main.ts', `import { x } from '../runtime/x.ts';`, true],
    ['src/cli/main.ts', `import { x } from '../ui/x.ts';`, false],
    ['src/cli/main.ts', `import { activate } from '../extension.ts';`, false],
    ['src/extension.ts', `import { main } from './cli/main.ts';`, false],
    ['src/extension.ts', `import * as vscode from 'vscode';`, true],
    ['src/runtime/x.ts', `import * as vscode from 'vscode';`, false],
    ['src/runtime/x.ts', `import type { Uri } from 'vscode';`, false],
    ['src/runtime/x.ts', `type Uri = import('vscode').Uri;`, false],
    ['src/runtime/x.ts', `const vscode = require('vscode');`, false],
    ['src/terminal/x.vscode.ts', `import * as vscode from 'vscode';`, true],
    ['src/terminal/x.ts', `import { x } from './x.vscode.ts';`, false],
    ['src/runtime/x.ts', `import { x } from '../terminal/x.vscode.ts';`, false],
    ['src/ui/x.ts', `import { x } from '../terminal/x.vscode.ts';`, true],
    ['src/extension.ts', `import { x } from './terminal/x.vscode.ts';`, true],
    ['src/terminal/y.vscode.ts', `import { x } from './x.vscode.ts';`, true],
    ['src/base/x.ts', `import { x } from '../../test/harness/x.ts';`, false],
    ['src/base/x.ts', `import { readFile } from 'node:fs/promises';`, true],
  ];

  for (const [file, statement, isAllowed] of cases) {
    it(`${isAllowed ? 'allow' : 'forbid'} ${statement} in ${file}`, () => {
      assert.equal(importViolations(file, statement).length === 0, isAllowed);
    });
  }
});

describe('the style rules', () => {
  for (const source of [
    `export default function f() {}`,
    `export default 1;`,
    `const a = 1; export { a as default };`,
    `enum Mode { On }`,
    `function f(x: any): void {}`,
  ]) {
    it(`forbid ${source}`, () => {
      assert.equal(styleViolations('src/base/x.ts', source).length, 1);
    });
  }

  it('leave words in strings and comments alone', () => {
    assert.deepEqual(
      styleViolations('src/base/x.ts', `// any enum\nexport const x = 'export default any';`),
      [],
    );
  });
});

function sourceFiles(): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(join(projectFolder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      path: join('src', name),
      text: readFileSync(join(projectFolder, 'src', name), 'utf8'),
    }));
}

function importViolations(path: string, text: string): readonly string[] {
  const from = roomOf(path);
  if (from === undefined) {
    return [`${path} is in no room of the design`];
  }
  const maySeeEditor = from === 'ui' || from === 'extension' || path.endsWith('.vscode.ts');
  return specifiersOf(path, text).flatMap((specifier) => {
    if (!specifier.startsWith('.')) {
      return specifier === 'vscode' && !maySeeEditor ? [`${path} imports vscode`] : [];
    }
    const target = join(dirname(path), specifier);
    const to = roomOf(target);
    if (to === undefined) {
      return [`${path} imports ${target}, which is in no room of the design`];
    }
    if (to !== from && !allowed[from].includes(to)) {
      return [`${path} imports ${target}: ${from} may not import ${to}`];
    }
    return target.endsWith('.vscode.ts') && !maySeeEditor
      ? [`${path} imports ${target}, which needs the editor`]
      : [];
  });
}

function roomOf(path: string): Room | undefined {
  const [source, name] = path.split('/');
  const room = name === 'extension.ts' ? 'extension' : name;
  return source === 'src' && room !== undefined && room in allowed ? (room as Room) : undefined;
}

/** Everything that a file imports: statically, for types, dynamically, by `require`. */
function specifiersOf(path: string, text: string): readonly string[] {
  const found: string[] = [];
  walk(parse(path, text), (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal);
    } else if (ts.isCallExpression(node)) {
      const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
      if (isRequire || node.expression.kind === ts.SyntaxKind.ImportKeyword) {
        add(node.arguments[0]);
      }
    }
  });
  return found;

  function add(node: ts.Node | undefined): void {
    if (node !== undefined && ts.isStringLiteralLike(node)) {
      found.push(node.text);
    }
  }
}

function styleViolations(path: string, text: string): readonly string[] {
  const found: string[] = [];
  walk(parse(path, text), (node) => {
    if (ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword) {
      // `default:` of a switch has no keyword node; `export default` declarations carry it as a modifier.
      found.push(`${path} has a default export`);
    } else if (ts.isExportSpecifier(node) && node.name.text === 'default') {
      found.push(`${path} has a default export`);
    } else if (ts.isEnumDeclaration(node)) {
      found.push(`${path} declares the enum ${node.name.text}`);
    } else if (node.kind === ts.SyntaxKind.AnyKeyword) {
      found.push(`${path} uses any`);
    }
  });
  return found;
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}
