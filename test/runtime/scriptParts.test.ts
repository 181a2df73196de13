import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Approval } from '../../src/runtime/approvals/approval.ts';
import type { ApprovalPolicy } from '../../src/runtime/approvals/approvalPolicy.ts';
import { neverAsk } from '../../src/runtime/approvals/approvalPolicy.ts';
import type { PrefixRule, RuleSet } from '../../src/sandbox/rules/rule.ts';
import { noRules } from '../../src/sandbox/rules/rule.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TestRuntime } from '../harness/testRuntime.ts';
import { createTestRuntime } from '../harness/testRuntime.ts';
import { waitFor } from '../harness/waitFor.ts';

type RuleWords = Partial<Pick<PrefixRule, 'decision' | 'runs'>> & { readonly words: readonly string[] };

function rules(...all: readonly RuleWords[]): RuleSet {
  return {
    ...noRules,
    prefixes: all.map(({ words, decision = 'prompt', runs = 'inside' }) => ({
      pattern: words.map((word) => [word]),
      decision,
      runs,
      justification: 'Because of the test.',
      origin: { source: 'user', place: 'test.rules:1' },
    })),
  };
}

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', ...args], {
    cwd,
    encoding: 'utf8',
  });

describe('Parts of a script', function () {
  this.timeout(120_000);
  let outside: TemporaryFolder;
  let runtime: TestRuntime | undefined;
  beforeEach(async () => (outside = await createTemporaryFolder('outside')));
  afterEach(async () => {
    await runtime?.dispose();
    runtime = undefined;
    await outside.dispose();
  });

  /** A runtime in which questions are answered by the offers with these ids, in turn; collects them. */
  async function setUp(
    options: { rules?: RuleSet; approval?: ApprovalPolicy; user?: object },
    ...answers: readonly string[]
  ): Promise<{ readonly asked: Approval[]; readonly test: TestRuntime }> {
    const { user = {}, ...rest } = options;
    const test = await createTestRuntime(
      { files: { [outside.path]: 'read' }, ...user },
      process.env,
      { rules: rules({ words: ['git', 'push'] }), ...rest },
    );
    runtime = test;
    const asked: Approval[] = [];
    test.approvals.onDidAsk((approval) => {
      const offer = approval.offers.find(({ id }) => id === answers[asked.length]);
      asked.push(approval);
      if (offer !== undefined) {
        void test.approvals.answer(approval.id, offer.answer);
      }
    });
    return { asked, test };
  }

  async function script(test: TestRuntime, ...lines: readonly string[]): Promise<string> {
    const path = join(test.root, 'work.sh');
    await writeFile(path, ['#!/bin/bash', ...lines, ''].join('\n'));
    await chmod(path, 0o755);
    return './work.sh';
  }

  const run = async (test: TestRuntime, lines: readonly string[], input: object = {}) =>
    (
      await test.call(
        'exec_command',
        { cmd: await script(test, ...lines), login: false, yield_time_ms: 30_000, ...input },
        { allow: false },
      )
    ).text;

  /** A repository in the root with one commit, and a bare one outside. */
  function repositories(test: TestRuntime): string {
    const bare = join(outside.path, 'bare.git');
    git(outside.path, 'init', '-q', '--bare', bare);
    git(test.root, 'init', '-q', '-b', 'main');
    git(test.root, 'commit', '-q', '--allow-empty', '-m', 'First.');
    git(test.root, 'remote', 'add', 'origin', bare);
    return bare;
  }
  const heads = (bare: string): string => git(bare, 'for-each-ref', '--format=%(refname:short)').trim();

  const lines = (bare: string): readonly string[] => [
    'echo written > inside',
    `echo no > ${outside.path}/denied || echo "still denied"`,
    'mkdir -p sub && cd sub',
    `git push ${bare} main; echo "push ended with $?"`,
    `echo no > ${outside.path}/denied || echo "denied after"`,
  ];

  it('are asked about alone, with their words and folder, and the rest stays in the sandbox', async () => {
    const { asked, test } = await setUp({}, 'once');
    const bare = repositories(test);
    const text = await run(test, lines(bare));
    assert.match(text, /still denied[^]*main -> main[^]*push ended with 0[^]*denied after/);
    assert.equal(heads(bare), 'main');
    assert.equal(await readFile(join(test.root, 'inside'), 'utf8'), 'written\n');
    assert.equal(existsSync(join(outside.path, 'denied')), false);
    assert.equal(asked.length, 1);
    assert.equal(asked[0]?.title, 'Run this part of the script?');
    assert.equal(asked[0]?.commandLine, `git push ${bare} main`);
    assert.equal(asked[0]?.cwd, join(test.root, 'sub'));
    assert.match(asked[0]?.reason ?? '', /“git push” \(test\.rules:1\)[^]*It is part of: \.\/work\.sh/);
  });

  it('end with 126 when the person says no, and the script goes on', async () => {
    const { asked, test } = await setUp({}, 'deny');
    const bare = repositories(test);
    const text = await run(test, [...lines(bare), `git push ${bare} main; echo "again $?"`]);
    assert.match(text, /cordon: git: the person declined\.[^]*push ended with 126[^]*denied after[^]*again 126/);
    assert.equal(heads(bare), '');
    assert.equal(asked.length, 1);
  });

  it('run in the sandbox of the script when the person wants that', async () => {
    const { test } = await setUp({}, 'inside');
    const bare = repositories(test);
    assert.match(await run(test, lines(bare)), /push ended with 1/);
    assert.equal(heads(bare), '');
  });

  it('run without a sandbox when the person wants that', async () => {
    const { test } = await setUp({}, 'unsandboxed');
    const bare = repositories(test);
    assert.match(await run(test, ['git push origin main']), /exited with code 0[^]*main -> main/);
    assert.equal(heads(bare), 'main');
  });
});
