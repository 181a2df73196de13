import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cordonCli } from '../../harness/execServer.ts';

/** Checks for any server that speaks the protocol, which lie beside the project where it is developed. */
const script = join(import.meta.dirname, '../../../../shared/check/exec_server_conformance.mjs');
const server = `'${process.execPath}' '${cordonCli}' exec-server --listen`;

describe('cordon exec-server by the checks of the protocol', function () {
  this.timeout(400_000);

  const names = [
    '^(listen|http: |ws:|initialize|envelope|errors)',
    '^(process|read|write|tty|signal|terminate)',
  ];
  const rest = '^(?!listen|http: |ws:|initialize|envelope|errors|process|read|write|tty|signal|terminate)';

  for (const only of [...names, rest]) {
    it(`passes ${only}`, async function () {
      if (!existsSync(script)) {
        console.log(`      skipped: ${script} is not here`);
        this.skip();
      }
      const { code, output } = await run([
        ...['--cmd', `${server} ws://127.0.0.1:0`, '--strict-order', '--only', only],
        ...['--stdio-cmd', `${server} stdio`],
        '--auth-cmd',
        `${server} ws://127.0.0.1:0 --ws-auth capability-token --ws-token-file {TOKEN_FILE}`,
      ]);
      assert.match(output, /[1-9]\d* passed, 0 failed/, output);
      assert.equal(code, 0);
    });
  }
});

async function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [script, ...args]);
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}
