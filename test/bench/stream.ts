import { spawn } from 'node:child_process';
import { createTestRuntime } from '../harness/testRuntime.ts';
import type { TestRuntime } from '../harness/testRuntime.ts';
import { printRatios, race } from './statistics.ts';

const mebibytes = 64;
const command = `head -c ${mebibytes}M /dev/zero | tr '\\0' 'x'`;

/** 64 MiB of output through a session, against a plain pipe that throws it away; and the memory it takes. */
export async function measureStream(rounds = 5): Promise<void> {
  const confined = await createTestRuntime();
  const open = await createTestRuntime({ mode: 'danger-full-access' });
  const call = (it: TestRuntime, tty: boolean): Promise<unknown> =>
    it.call('exec_command', { cmd: command, shell: '/bin/sh', login: false, tty, yield_time_ms: 30_000 });
  const idle = process.memoryUsage.rss();
  const peak = await peakRssDuring(() => call(confined, false));
  const medians = await race(
    {
      'plain pipe': plainPipe,
      'session, sandboxed': () => call(confined, false),
      'session, full access': () => call(open, false),
      'session, sandboxed, tty with screen': () => call(confined, true),
    },
    { rounds },
  );
  printRatios(`${mebibytes} MiB of output (median)`, medians, 'plain pipe');
  for (const [name, ms] of Object.entries(medians)) {
    console.log(`    ${name}: ${((mebibytes / ms) * 1000).toFixed(0)} MiB/s`);
  }
  console.log(
    `    memory: ${inMiB(idle)} MiB before the first sandboxed stream, ${inMiB(peak)} MiB at its peak`,
  );
  await confined.dispose();
  await open.dispose();
}

function inMiB(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0);
}

async function plainPipe(): Promise<void> {
  await new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.on('data', () => {});
    child.once('close', resolve);
  });
}

async function peakRssDuring(run: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
  await run();
  clearInterval(timer);
  return Math.max(peak, process.memoryUsage.rss());
}
