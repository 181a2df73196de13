import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import { readEditorPaths } from '../../patch/files/editorPaths.vscode.ts';
import type { Plan, PlannedChange } from '../../patch/plan/plan.ts';
import { changedRanges, newProblems, problemsIn, problemsNote } from './diagnosticLines.ts';
import type { LineRange, Problem } from './diagnosticLines.ts';

/** The problems that a patch brings, as the languages of the editor report them. */
export class NewDiagnostics implements Disposable {
  readonly #subscription: Disposable;
  /** The languages that somebody reports problems for: the others are not worth waiting for. */
  readonly #reporting = new Set<string>();

  constructor() {
    this.#subscription = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      const changed = new Set(uris.map(String));
      for (const { uri, languageId } of vscode.workspace.textDocuments) {
        if (changed.has(uri.toString())) {
          this.#reporting.add(languageId);
        }
      }
    });
  }

  /** Remembers the problems of the files that a plan is about to change. */
  async observe(plan: Plan): Promise<DiagnosticsObservation> {
    const paths = await readEditorPaths();
    const files = plan.changes.flatMap((change) => {
      const target = targetOf(change);
      if (target === undefined) {
        return [];
      }
      const before = problemsOf(paths.uriOf(change.path));
      const isKnown = before.length > 0 || paths.documentsAt(change.path).length > 0;
      return [{ ...target, uri: paths.uriOf(target.path), before, isKnown }];
    });
    return new DiagnosticsObservation(files, this.#reporting);
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

interface ObservedFile {
  readonly name: string;
  readonly uri: vscode.Uri;
  readonly before: readonly Problem[];
  /** Its problems were looked for before; otherwise the editor only finds them because the patch opened it. */
  readonly isKnown: boolean;
  /** Undefined: all of it. */
  readonly changed: readonly LineRange[] | undefined;
}

/** One patch, from before it is applied until its problems are told. */
export class DiagnosticsObservation implements Disposable {
  readonly #files: readonly ObservedFile[];
  readonly #reporting: ReadonlySet<string>;
  readonly #store = new DisposableStore();
  #onReport: (() => void) | undefined;
  #hasReport = false;

  constructor(files: readonly ObservedFile[], reporting: ReadonlySet<string>) {
    this.#files = files;
    this.#reporting = reporting;
    const own = new Set(files.map(({ uri }) => uri.toString()));
    this.#store.add(
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        if (uris.some((uri) => own.has(uri.toString()))) {
          this.#hasReport = true;
          this.#onReport?.();
        }
      }),
    );
  }

  /** Waits, not long, until the languages have spoken; gives a note with what is new, or none. */
  async report(): Promise<readonly string[]> {
    if (this.#isWorthWaiting()) {
      await this.#quiet();
    }
    const files = this.#files.map(({ name, uri, before, isKnown, changed }) => {
      const after = problemsOf(uri);
      const isKnownOrAll = isKnown || changed === undefined;
      return { name, problems: isKnownOrAll ? newProblems(before, after) : problemsIn(changed, after) };
    });
    const note = problemsNote(files);
    return note === undefined ? [] : [note];
  }

  dispose(): void {
    this.#store.dispose();
  }

  #isWorthWaiting(): boolean {
    const own = new Set(this.#files.map(({ uri }) => uri.toString()));
    return vscode.workspace.textDocuments.some(
      ({ uri, languageId }) => own.has(uri.toString()) && this.#reporting.has(languageId),
    );
  }

  /** Until a report is followed by silence, or until nothing came for as long as an agent may be kept waiting. */
  #quiet(): Promise<void> {
    return new Promise((resolve) => {
      let silence: ReturnType<typeof setTimeout> | undefined;
      const end = (): void => {
        clearTimeout(limit);
        clearTimeout(silence);
        this.#onReport = undefined;
        resolve();
      };
      const limit = setTimeout(end, limitMs);
      this.#onReport = () => {
        clearTimeout(silence);
        silence = setTimeout(end, silenceMs);
      };
      if (this.#hasReport) {
        this.#onReport();
      }
    });
  }
}

const limitMs = 1500;
const silenceMs = 300;

function targetOf(
  change: PlannedChange,
): (Pick<ObservedFile, 'name' | 'changed'> & { path: string }) | undefined {
  switch (change.kind) {
    case 'create':
      return { path: change.path, name: change.name, changed: undefined };
    case 'update':
      return { path: change.path, name: change.name, changed: change.edits && changedRanges(change.edits) };
    case 'move':
      return { path: change.toPath, name: change.toName, changed: changedRanges(change.edits ?? []) };
    case 'delete':
      return undefined;
  }
}

function problemsOf(uri: vscode.Uri): readonly Problem[] {
  return vscode.languages.getDiagnostics(uri).flatMap(({ range, severity, message, source }) => {
    const word =
      severity === vscode.DiagnosticSeverity.Error
        ? 'error'
        : severity === vscode.DiagnosticSeverity.Warning
          ? 'warning'
          : undefined;
    const { start, end } = range;
    return word === undefined
      ? []
      : [{ line: start.line, endLine: end.line, column: start.character, severity: word, message, source }];
  });
}
