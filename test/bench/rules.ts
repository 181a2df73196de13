import { createBashParser } from '../../src/sandbox/commands/bashParser.ts';
import { judgeCommand } from '../../src/sandbox/rules/judgeCommand.ts';
import { noRules } from '../../src/sandbox/rules/rule.ts';
import type { PrefixRule } from '../../src/sandbox/rules/rule.ts';

const lines = [
  'git status',
  'npm run test:unit -- --grep rules 2>&1 | tail -20',
  'cd packages/app && cargo build --release && cargo test | grep -c ok',
  'for f in src/*.ts; do grep -n "TODO" "$f" || true; done',
  `node - <<'EOF'\n${'console.log(1);\n'.repeat(40)}EOF`,
];

/** From a command line to what a set of rules of that size says about it, after warming up. */
export async function measureRules(rounds = 400): Promise<void> {
  console.log('\nCommand line to judgement, milliseconds');
  const parse = createBashParser();
  for (const count of [0, 100, 1_000]) {
    const rules = { ...noRules, prefixes: Array.from({ length: count }, (_, index) => ruleNumber(index)) };
    const times: number[] = [];
    for (let round = -50; round < rounds; round += 1) {
      for (const line of lines) {
        const startedAt = performance.now();
        await judgeCommand(['/bin/bash', '-lc', line], rules, parse);
        if (round >= 0) {
          times.push(performance.now() - startedAt);
        }
      }
    }
    times.sort((a, b) => a - b);
    const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(3);
    console.log(`  ${count} rules: p50 ${at(0.5)}, p95 ${at(0.95)}`);
  }
}

function ruleNumber(index: number): PrefixRule {
  const decision = index % 3 === 0 ? 'prompt' : 'allow';
  const program = ['git', 'npm', 'cargo', `tool${index}`][index % 4] as string;
  const origin = { source: 'user', place: `bench.rules:${index}` } as const;
  return { pattern: [[program], [`command${index}`, 'other']], decision, runs: 'inside', origin };
}
