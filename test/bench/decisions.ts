import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureCodex } from '../../scripts/codex.mjs';
import { ok } from '../../src/base/result.ts';
import { defaultApproval } from '../../src/runtime/approvals/approvalPolicy.ts';
import type { CommandRequest } from '../../src/runtime/orchestrator.ts';
import type { Roots } from '../../src/runtime/roots.ts';
import { localMachine } from '../../src/runtime/machines/localMachine.ts';
import { Orchestrator } from '../../src/runtime/orchestrator.ts';
import { createBashParser } from '../../src/sandbox/commands/bashParser.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import { RecentPolicies } from '../../src/sandbox/policy/recentPolicies.ts';
import type { PrefixRule, RuleSet } from '../../src/sandbox/rules/rule.ts';
import { noRules } from '../../src/sandbox/rules/rule.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { helperFolder } from '../harness/testRuntime.ts';
import { quantile } from './statistics.ts';

const run = promisify(execFile);

const commands = [
  'npm test',
  'cd src && npm run lint -- --fix | tail -20',
  'git status --short; git diff',
  'make -j2 all',
];

/**
 * From a tool call to what the launcher gets: the folder and its policy resolved, the line parsed, held against rules,
 * decided, and made ready.
 */
export async function measureDecisions(rounds = 500): Promise<void> {
  const folder = await createTemporaryFolder('decisions');
  await mkdir(join(folder.path, 'src'));
  const root = { name: 'root', path: folder.path };
  const machine = nodeMachine();
  const recent = new RecentPolicies();
  const roots: Roots = {
    list: () => [root],
    active: () => root,
    policyFor: () => recent.resolve({ ...machine, root: root.path, isTrusted: true, user: {} }),
    approvalPolicyFor: () => ok(defaultApproval),
    rulesFor: async () => rules,
    reviewModeFor: () => 'never',
  };
  const parentEnv = { ...process.env, SHELL: '/bin/bash' };
  const local = localMachine({ roots, parentEnv, helperFolder });
  const orchestrator = new Orchestrator({
    roots,
    machineOf: async () => ok(local),
    parentEnv,
    parseScript: createBashParser(),
  });
  const times: number[] = [];
  for (let round = -50; round < rounds; round++) {
    for (const cmd of commands) {
      const request: CommandRequest = { cmd, login: true, isTty: false };
      const startedAt = performance.now();
      const judged = await orchestrator.judge(request, {});
      if (!judged.ok || judged.value.decision.kind !== 'run') {
        throw new Error(`"${cmd}" is not decided as the benchmark wants it.`);
      }
      await orchestrator.prepareJudged(judged.value, []);
      if (round >= 0) {
        times.push(performance.now() - startedAt);
      }
    }
  }
  const peer = await measurePeer(folder.path);
  await folder.dispose();
  const at = (share: number): string => quantile(times, share).toFixed(2);
  const ratio = (quantile(times, 0.5) / peer).toFixed(3);
  console.log(
    `\nFrom a tool call to a parsed, rule-checked and allowed command (${rules.prefixes.length} rules)`,
  );
  console.log(
    `  p50 ${at(0.5)} ms, p95 ${at(0.95)} ms over ${times.length} commands; the goal is 1 ms at p95`,
  );
  console.log(`  codex execpolicy check, a process for each: p50 ${peer.toFixed(1)} ms; ours ${ratio}×`);
}

/** The peer reads the same rules and decides about one command; it offers that as a program only. */
async function measurePeer(folder: string, rounds = 20): Promise<number> {
  const codex = await ensureCodex();
  const path = join(folder, 'bench.rules');
  const lines = rules.prefixes.map(
    ({ pattern, decision }) =>
      `prefix_rule(pattern=${JSON.stringify(pattern.flat())}, decision=${JSON.stringify(decision)})\n`,
  );
  await writeFile(path, lines.join(''));
  const times: number[] = [];
  for (let round = -2; round < rounds; round++) {
    const startedAt = performance.now();
    await run(codex, ['execpolicy', 'check', '--rules', path, '--', 'npm', 'test'], {
      env: { PATH: process.env['PATH'], HOME: folder, CODEX_HOME: folder },
    });
    if (round >= 0) {
      times.push(performance.now() - startedAt);
    }
  }
  return quantile(times, 0.5);
}

const rules: RuleSet = {
  ...noRules,
  prefixes: [
    ...Array.from({ length: 100 }, (_, index) => rule(['tool', `command-${index}`], 'prompt')),
    rule(['npm', 'test'], 'allow'),
    rule(['git', 'status'], 'allow'),
  ],
};

function rule(words: readonly string[], decision: PrefixRule['decision']): PrefixRule {
  return {
    pattern: words.map((word) => [word]),
    decision,
    runs: 'inside',
    origin: { source: 'user', place: 'bench.rules:1' },
  };
}
