import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ensureCodex } from '../../scripts/codex.mjs';
import { createBashParser } from '../../src/sandbox/commands/bashParser.ts';
import { readRuleFile } from '../../src/sandbox/rules/file/readRuleFile.ts';
import type { RuleFile } from '../../src/sandbox/rules/file/readRuleFile.ts';
import { judgeCommand } from '../../src/sandbox/rules/judgeCommand.ts';
import { Random } from '../harness/random.ts';
import { damage, randomRuleFile } from '../harness/randomRuleFiles.ts';

/** What the binary says: a decision, nothing, or that it does not take the file. */
type Answer = string | undefined | { readonly error: string };

const files = 3_000;
const atOnce = 4;

describe('rules about commands: `codex execpolicy check` and ours', () => {
  let codex: string;
  let folder: string;
  const parse = createBashParser();

  before(async function () {
    this.timeout(600_000);
    codex = await ensureCodex();
    folder = mkdtempSync(join(tmpdir(), 'cordon-rules-'));
    mkdirSync(join(folder, 'home'));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it(`load the same of ${files} files and decide the same about commands`, async function () {
    this.timeout(1_200_000);
    const seen = { loaded: 0, refused: 0, decided: 0, wider: 0 };
    await inParallel(files, async (seed, lane) => {
      const random = new Random(seed);
      const isDamaged = random.chance(0.3);
      const { text: whole, command } = randomRuleFile(random);
      const text = isDamaged ? damage(random, whole) : whole;
      const resolves = random.chance(0.5);
      const theirs = await check(text, command, resolves, lane);
      const ours = readRuleFile(text, { path: 'x.rules', source: 'user' });
      const what = `seed ${seed}, ${JSON.stringify(command)}, ${resolves ? 'paths resolved' : 'exact'}:\n${text}\n`;
      if (typeof theirs === 'object') {
        seen.refused += 1;
        assert.equal(ours.ok, false, `${what}\nCodex refuses: ${theirs.error}`);
      } else if (ours.ok) {
        seen.loaded += 1;
        const { decision } = await judgeCommand(command, { ...ours.value, problems: [] }, parse);
        const expected = expectedDecision(theirs, command, resolves, ours.value);
        seen.decided += theirs === undefined ? 0 : 1;
        assert.equal(decision, expected.decision ?? decision, what);
      } else {
        // Damage makes other Starlark of it now and then.
        seen.wider += 1;
        assert.ok(isDamaged, `${what}\n${ours.error.message}`);
      }
    });
    assert.ok(
      seen.loaded > files / 4 && seen.refused > files / 10 && seen.decided > files / 20,
      JSON.stringify(seen),
    );
    assert.ok(seen.wider < files / 20, JSON.stringify(seen));
  });

  async function check(
    text: string,
    command: readonly string[],
    resolves: boolean,
    lane: number,
  ): Promise<Answer> {
    const path = join(folder, `${lane}.rules`);
    writeFileSync(path, text);
    const flags = resolves ? ['--resolve-host-executables'] : [];
    const env = { PATH: process.env['PATH'], HOME: join(folder, 'home'), CODEX_HOME: join(folder, 'home') };
    return new Promise((resolve) => {
      execFile(
        codex,
        ['execpolicy', 'check', '--rules', path, ...flags, '--', ...command],
        { env },
        (error, stdout, stderr) => {
          resolve(
            error === null ? (JSON.parse(stdout) as { decision?: string }).decision : { error: stderr },
          );
        },
      );
    });
  }
});

/** What ours has to say where theirs says that; absent where the two mean to differ about paths. */
function expectedDecision(
  theirs: string | undefined,
  [program = '']: readonly string[],
  resolves: boolean,
  { hostExecutables, prefixes }: RuleFile,
): { readonly decision: string | undefined } | { readonly decision?: never } {
  const isPath = program.includes('/');
  if (!isPath) {
    return { decision: theirs };
  }
  const isNamed = prefixes.some(({ pattern }) => pattern[0]?.includes(program));
  const isListed = hostExecutables.get(basename(program))?.includes(program) === true;
  // Ours always looks through a path for what narrows, and only at a listed one for what allows.
  return resolves && isListed && !isNamed ? { decision: theirs } : {};
}

async function inParallel(count: number, run: (index: number, lane: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lanes = Array.from({ length: atOnce }, async (_, lane) => {
    while (next < count) {
      next += 1;
      await run(next, lane);
    }
  });
  await Promise.all(lanes);
}
