import { createBashParser } from '../../src/sandbox/commands/bashParser.ts';
import { classifyLine } from '../../src/sandbox/commands/commandClass.ts';
import { readCommand } from '../../src/sandbox/commands/commandLine.ts';
import { commandLines } from '../unit/sandbox/commands/commandLines.ts';
import { quantile } from './statistics.ts';

/** Every line of the table, read and classified, after one round of warming up. */
export async function measureCommandLines(rounds = 10): Promise<void> {
  const parse = createBashParser();
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const { line } of commandLines) {
      const argv = typeof line === 'string' ? ['bash', '-lc', line] : line;
      const startedAt = performance.now();
      classifyLine(await readCommand(argv, parse));
      if (round > 0) {
        times.push(performance.now() - startedAt);
      }
    }
  }
  const at = (share: number): string => quantile(times, share).toFixed(3);
  console.log('\nA command line, read and classified');
  console.log(`  p50 ${at(0.5)} ms, p95 ${at(0.95)} ms over ${times.length} readings`);
}
