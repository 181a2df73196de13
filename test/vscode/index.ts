import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';

/**
 * Runs the suites that lie beside this module, inside the extension host. Settings come from the environment
 * that the editor was started with: which suites, which tests, and the reporter that counts.
 */
export async function run(): Promise<void> {
  const chosen = process.env['CORDON_TEST_FILES']?.split(',').filter((name) => name !== '');
  const mocha = new Mocha({
    ui: 'bdd',
    timeout: 60_000,
    color: false,
    reporter: process.env['CORDON_TEST_REPORTER'] ?? 'spec',
    ...(process.env['CORDON_TEST_GREP'] === undefined ? {} : { grep: process.env['CORDON_TEST_GREP'] }),
  });
  const marker = process.env['CORDON_TEST_MARKER'];
  if (marker !== undefined) {
    // The editor's own log lines take the same way to whoever reads this output.
    Mocha.reporters.Base.consoleLog = (...args: unknown[]) => console.log(marker + format(...args));
  }
  for (const file of readdirSync(__dirname).sort()) {
    if (
      file.endsWith('.test.js') &&
      (chosen === undefined || chosen.includes(file.slice(0, -'.js'.length)))
    ) {
      mocha.addFile(join(__dirname, file));
    }
  }
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) {
    throw new Error(`${failures} tests failed`);
  }
}
