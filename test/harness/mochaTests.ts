import { execFileSync } from 'node:child_process';
import { join, relative } from 'node:path';

const project = join(import.meta.dirname, '../..');

export interface MochaTest {
  /** From the project's folder. */
  readonly file: string;
  /** The titles around it, joined by blanks. */
  readonly suite: string;
  readonly title: string;
}

/** What mocha would run of these files, which are relative to the project. */
export function mochaTests(...files: readonly string[]): readonly MochaTest[] {
  const argv = ['node_modules/mocha/bin/mocha.js', '--dry-run', '--reporter', 'json', ...files];
  const output = execFileSync(process.execPath, argv, { cwd: project, encoding: 'utf8', maxBuffer: 1e8 });
  const report = JSON.parse(output) as {
    readonly tests: readonly { readonly file: string; readonly title: string; readonly fullTitle: string }[];
  };
  return report.tests.map(({ file, title, fullTitle }) => ({
    file: relative(project, file),
    suite: fullTitle.slice(0, -title.length).trim(),
    title,
  }));
}
