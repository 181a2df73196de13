import assert from 'node:assert/strict';
import type { ChildHandle } from '../../src/terminal/childHandle.ts';
import { startPipeChild } from '../../src/terminal/pipeChild.ts';
import { startPtyChild } from '../../src/terminal/ptyChild.ts';

const spec = (script: string) =>
  ({ argv: ['/bin/sh', '-c', script], cwd: '/', env: { PATH: '/usr/bin:/bin' } }) as const;
const size = { columns: 80, rows: 24 };
const start = {
  pipes: (script: string) => startPipeChild({ ...spec(script), pipeStdin: false }),
  terminal: (script: string) => startPtyChild({ ...spec(script), size }),
};

for (const [kind, startChild] of Object.entries(start)) {
  describe(`A child on ${kind}`, () => {
    it('loses no output when the event loop is blocked around its exit', async function () {
      this.timeout(60_000);
      for (const blockMs of [250, 700]) {
        const child = await startChild('seq 1 3000');
        assert.equal(await readBlocking(child, blockMs), numbers(3000));
      }
    });

    it('loses no output when the loop is blocked for longer than the drain time', async function () {
      this.timeout(60_000);
      const child = await startChild('seq 1 3000; sleep 0.2 & exit 0');
      assert.equal(await readBlocking(child, 2_500), numbers(3000));
    });

    it('is drained although something in the background goes on writing', async function () {
      this.timeout(60_000);
      const child = await startChild('(trap "" HUP; while :; do echo on and on; done) & exit 0');
      await new Promise<void>((resolve) => child.onDrained(() => resolve()));
      process.kill(-child.pid, 'SIGKILL');
    });
  });
}

async function readBlocking(child: ChildHandle, blockMs: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  child.onOutput(({ chunk }) => {
    chunks.push(chunk);
    const until = Date.now() + blockMs;
    while (Date.now() < until) {
      // Another extension in the same process does its work.
    }
  });
  await new Promise<void>((resolve) => child.onDrained(() => resolve()));
  return Buffer.concat(chunks).toString().replaceAll('\r', '');
}

function numbers(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');
}
