import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import type { Disposable } from '../base/disposable.ts';

const scheme = 'cordon-page';

/**
 * Read-only pages of text in the editor, each drawn anew whenever it is shown or {@link refresh}ed. As text and not as
 * a preview: a preview is a webview, which needs more of the machine than a page about its troubles may ask.
 */
export class TextPages implements Disposable {
  readonly #store = new DisposableStore();
  readonly #renders = new Map<string, () => string>();
  readonly #didChange = new vscode.EventEmitter<vscode.Uri>();

  constructor() {
    this.#store.add(this.#didChange);
    this.#store.add(
      vscode.workspace.registerTextDocumentContentProvider(scheme, {
        onDidChange: this.#didChange.event,
        provideTextDocumentContent: ({ path }) => this.#renders.get(path)?.() ?? forgotten,
      }),
    );
    this.#store.add(vscode.languages.registerDocumentLinkProvider({ scheme }, { provideDocumentLinks }));
    this.#store.add(vscode.languages.registerFoldingRangeProvider({ scheme }, { provideFoldingRanges }));
    this.#store.add(vscode.languages.registerDocumentSymbolProvider({ scheme }, { provideDocumentSymbols }));
  }

  /** Opens the page with that title, or brings it to the front with new text. */
  async show(title: string, render: () => string): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `/${title.replaceAll('/', '-')}.md` });
    this.#renders.set(uri.path, render);
    this.#didChange.fire(uri);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  /** Draws every open page anew. */
  refresh(): void {
    for (const { uri } of vscode.workspace.textDocuments.filter(
      (document) => document.uri.scheme === scheme,
    )) {
      this.#didChange.fire(uri);
    }
  }

  dispose(): void {
    this.#store.dispose();
  }
}

/** What a tab shows that the editor brought back after a reload. */
const forgotten =
  'This page is of an earlier session. Close it and open it again from the command palette.\n';

/** Names of settings lead to them. */
function provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
  return [...document.getText().matchAll(/\bcordon(?:\.[a-zA-Z]+)+/g)].map(({ 0: name, index }) => {
    const range = new vscode.Range(document.positionAt(index), document.positionAt(index + name.length));
    const link = new vscode.DocumentLink(
      range,
      vscode.Uri.parse(`command:workbench.action.openSettings?${encodeURIComponent(JSON.stringify([name]))}`),
    );
    link.tooltip = 'Open in the settings';
    return link;
  });
}

interface Section {
  readonly level: number;
  readonly title: string;
  readonly start: number;
  readonly end: number;
}

/** Headings with the lines up to the next one of the same or a higher level. */
function sectionsOf(document: vscode.TextDocument): readonly Section[] {
  const headings = document
    .getText()
    .split('\n')
    .flatMap((text, start) => {
      const [, marks, title] = /^(#+) (.*)$/.exec(text) ?? [];
      return marks === undefined || title === undefined ? [] : [{ level: marks.length, title, start }];
    });
  return headings.map((heading, index) => {
    const next = headings.slice(index + 1).find(({ level }) => level <= heading.level);
    return { ...heading, end: (next?.start ?? document.lineCount) - 1 };
  });
}

function provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
  return sectionsOf(document).map(({ start, end }) => new vscode.FoldingRange(start, end));
}

function provideDocumentSymbols(document: vscode.TextDocument): vscode.DocumentSymbol[] {
  return sectionsOf(document)
    .filter(({ level }) => level > 1)
    .map(({ title, start, end }) => {
      const whole = new vscode.Range(start, 0, end, document.lineAt(end).text.length);
      return new vscode.DocumentSymbol(
        title,
        '',
        vscode.SymbolKind.String,
        whole,
        document.lineAt(start).range,
      );
    });
}
