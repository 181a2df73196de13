import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import { createAccessUnder } from '../../../src/patch/accessUnder.ts';
import { createDiskPatchHost } from '../../../src/patch/diskPatchHost.ts';
import type { PatchHost, PatchRequest, ReviewOutcome } from '../../../src/patch/patchHost.ts';
import type { ReviewMode } from '../../../src/patch/reviewMode.ts';
import { PatchRunner } from '../../../src/runtime/patches/patchRunner.ts';
import type { PolicyInput } from '../../../src/sandbox/policy/input.ts';
import { addition, describePatches, patch } from '../../harness/patchSuite.ts';
import { createTestRuntime, testPolicy } from '../../harness/testRuntime.ts';
import type { TestRuntime } from '../../harness/testRuntime.ts';

describePatches('on this machine', createTestRuntime);

describe('apply_patch', () => {
  let runtime: TestRuntime;
  afterEach(() => runtime.dispose());

  const apply = (input: string, options: object = {}) => runtime.call('apply_patch', { input, ...options });
  const path = (name: string) => join(runtime.root, name);

  it('says that a write failed, and leaves everything as it was', async () => {
    const host: PatchHost = {
      ...createDiskPatchHost(createAccessUnder()),
      apply: async () => ({
        ok: false,
        error: { kind: 'io.write', message: 'Failed to write file /a', hint: 'No space left.' },
      }),
    };
    runtime = await createTestRuntime({}, process.env, { patchHost: host });
    const { text, isError } = await apply(addition('n'));
    assert.match(
      text,
      /^Exit code: 1\nWall time: \S+ seconds\nOutput:\nFailed to write file \/a\nNo space left\.\n$/,
    );
    assert.equal(isError, true);
  });

  describe('with somebody to review', () => {
    let reviews: PatchRequest[];
    let outcome: ReviewOutcome;

    async function start(
      reviewMode: ReviewMode,
      user: PolicyInput['user'] = {},
      canReview = true,
    ): Promise<void> {
      reviews = [];
      outcome = { kind: 'decided', files: [{ name: 'n', letter: 'A', decision: 'accepted' }], notes: [] };
      const review: PatchHost['review'] = async (request) => {
        reviews.push(request);
        return outcome;
      };
      const patchHost = { ...createDiskPatchHost(createAccessUnder()), ...(canReview && { review }) };
      runtime = await createTestRuntime(user, process.env, { reviewMode, patchHost });
    }

    const outside = join(homedir(), `.cordon-reviewed-${process.pid}`);
    afterEach(() => rm(outside, { force: true }));

    for (const [mode, name, user, expected] of [
      ['always', 'n', {}, 'review'],
      ['always', outside, {}, 'review'],
      ['outsideRules', 'n', {}, 'apply'],
      ['outsideRules', outside, {}, 'review'],
      ['outsideRules', '.git/config', {}, 'review'],
      ['outsideRules', 'n', { mode: 'read-only' }, 'review'],
      ['outsideRules', 'n', { mode: 'danger-full-access' }, 'apply'],
      ['outsideRules', outside, { mode: 'danger-full-access' }, 'review'],
      ['never', 'n', {}, 'apply'],
      ['never', outside, {}, 'refuse'],
      ['never', 'n', { mode: 'read-only' }, 'refuse'],
    ] as const) {
      const policy = 'mode' in user ? user.mode : 'workspace-write';
      it(`review ${mode}, ${policy}: ${expected} what adds ${name}`, async () => {
        await start(mode, user);
        const { text } = await apply(addition(name));
        assert.equal(reviews.length, expected === 'review' ? 1 : 0);
        assert.match(text, expected === 'refuse' ? /^patch rejected/ : /^Exit code: 0/);
        assert.equal(existsSync(path('n')), expected === 'apply' && name === 'n');
      });
    }

    it('shows the reviewer the names, the text, the plan and what the policy does not allow', async () => {
      await start('outsideRules');
      const input = patch('*** Add File: n', '+x', `*** Add File: ${outside}`, '+x');
      await apply(input);
      const [request] = reviews;
      assert.equal(request?.title, `n, ${outside}`);
      assert.equal(request?.text, input);
      assert.equal(request?.cwd, runtime.root);
      assert.equal(request?.plan.changes.length, 2);
      assert.deepEqual(
        request?.refusals.map(({ path: refused, reason }) => [refused, reason]),
        [[outside, 'hidden']],
      );
    });

    it('asks nobody about an untrusted workspace', async () => {
      await start('always');
      const root = { name: 'root', path: runtime.root };
      const trusted = testPolicy(runtime.root, { mode: 'read-only' });
      const policy = { ...trusted, sources: { ...trusted.sources, mode: 'untrusted' } } as const;
      const runner = new PatchRunner({
        host: { ...createDiskPatchHost(createAccessUnder()), review: () => assert.fail('asked') },
        roots: { reviewModeFor: () => 'always' },
        log: silentLog,
        accessUnder: createAccessUnder(),
      });
      const place = { cwd: runtime.root, root, policy };
      const { signal } = new AbortController();
      const { text } = await runner.run({ text: addition('n'), place, signal });
      assert.match(text, /^patch rejected: writing is blocked.*\n.*not trusted.*\nThe person has to trust/);
      assert.equal(existsSync(path('n')), false);
    });

    it('refuses instead of asking where nobody can review', async () => {
      await start('always', {}, false);
      assert.match((await apply(addition('n'))).text, /^patch rejected: cordon\.patch\.review is "always"/);
      await runtime.dispose();
      await start('outsideRules', {}, false);
      assert.match((await apply(addition(outside))).text, /^patch rejected: writing outside/);
      await runtime.dispose();
      await start('outsideRules', { mode: 'danger-full-access' }, false);
      assert.match((await apply(addition('n'))).text, /^Exit code: 0/);
    });

    it('does not let a person waste time on a patch that changes nothing', async () => {
      await start('always');
      writeFileSync(path('a.txt'), 'one\n');
      assert.match((await apply(patch('*** Update File: a.txt', '@@', ' one'))).text, /^Exit code: 0/);
      assert.equal(reviews.length, 0);
    });

    const answers: readonly (readonly [what: string, outcome: ReviewOutcome, answer: string])[] = [
      [
        'everything was accepted',
        {
          kind: 'decided',
          files: [{ name: 'n', letter: 'A', decision: 'accepted' }],
          comment: 'Nice.',
          notes: ['n has 1 new problem.'],
        },
        'Exit code: 0\nWall time: N seconds\nOutput:\nSuccess. Updated the following files:\nA n\n' +
          'Comment of the person: Nice.\nNote: n has 1 new problem.\n',
      ],
      [
        'a part was accepted',
        {
          kind: 'decided',
          files: [
            { name: 'n', letter: 'A', decision: 'accepted' },
            { name: 'm', letter: 'M', decision: 'rejected', comment: 'Not now.' },
            { name: 'o', letter: 'M', decision: 'changed', diff: '@@ -1 +1 @@\n-x\n+y\n' },
          ],
          notes: [],
        },
        'Exit code: 0\nWall time: N seconds\nOutput:\nSuccess. Updated the following files:\nA n\nM o\n' +
          'The person reviewed the patch and did not take all of it as proposed:\n- n: accepted\n' +
          '- m: rejected, not applied (comment: Not now.)\n- o: applied with changes by the person\n' +
          'From what you proposed to what was applied:\n@@ -1 +1 @@\n-x\n+y\n',
      ],
      [
        'nothing was accepted',
        {
          kind: 'decided',
          files: [{ name: 'n', letter: 'A', decision: 'rejected', comment: 'No.' }],
          comment: 'Ask first.',
          notes: [],
        },
        'patch rejected by user\nComment of the person: Ask first.\n- n: rejected, not applied (comment: No.)',
      ],
      [
        'the files changed meanwhile',
        {
          kind: 'obsolete',
          error: { kind: 'match.lines_not_found', message: 'Failed to find expected lines in /a:\nx' },
        },
        'apply_patch verification failed: Failed to find expected lines in /a:\nx\n' +
          'The files changed while the patch waited for its review. Nothing was changed.',
      ],
      [
        'applying failed',
        { kind: 'failed', error: { kind: 'io.write', message: 'Failed to write file /a' } },
        'Exit code: 1\nWall time: N seconds\nOutput:\nFailed to write file /a\n',
      ],
      [
        'the caller gave up',
        { kind: 'abandoned' },
        'Wall time: N seconds\naborted by user\nThe patch still waits for its review and may be applied later.',
      ],
    ];
    for (const [what, given, answer] of answers) {
      it(`tells the model that ${what}`, async () => {
        await start('always');
        outcome = given;
        const { text, isError } = await apply(addition('n'));
        assert.equal(text.replace(/\d+\.\d{4} seconds/, 'N seconds'), answer);
        assert.equal(isError, !answer.startsWith('Exit code: 0'));
      });
    }
  });
});
