import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTestRuntime, testPolicy } from '../../harness/testRuntime.ts';
import type { TestRuntime } from '../../harness/testRuntime.ts';

const patch = (...lines: readonly string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const addition = (name: string) => patch(`*** Add File: ${name}`, '+x');

describe('apply_patch', () => {
  let runtime: TestRuntime;
  afterEach(() => runtime.dispose());

  const apply = (input: string, options: object = {}) => runtime.call('apply_patch', { input, ...options });
  const path = (name: string) => join(runtime.root, name);

  describe('without reviews', () => {
    beforeEach(async () => {
      runtime = await createTestRuntime();
      writeFileSync(path('a.txt'), 'one\ntwo\n');
    });

    it("answers in the reference's shape, notes below", async () => {
      const { text, isError } = await apply(
        patch(
          '*** Add File: b/new.txt',
          '+x',
          '*** Add File: a.txt',
          '+y',
          '*** Update File: b/new.txt',
          '@@',
          '-x',
          '+z',
        ),
      );
      assert.match(
        text,
        /^Exit code: 0\nWall time: \d+\.\d{4} seconds\nOutput:\nSuccess\. Updated the following files:\nA b\/new\.txt\nA a\.txt\nM b\/new\.txt\nNote: a\.txt existed[^\n]*\n$/,
      );
      assert.equal(isError, false);
      assert.equal(readFileSync(path('b/new.txt'), 'utf8'), 'z\n');
    });

    it('sees what sections before have made, below a folder that is still to be made', async () => {
      const chained = patch('*** Add File: b/x', '+1', '*** Update File: b/x', '@@', '-1', '+2');
      assert.equal((await apply(chained)).isError, false);
      assert.equal(readFileSync(path('b/x'), 'utf8'), '2\n');
      const below = patch('*** Add File: c/x', '+1', '*** Add File: c/x/y', '+2');
      assert.match((await apply(below)).text, /Failed to write file .*c\/x\/y/);
      assert.equal(existsSync(path('c')), false);
    });

    it('changes nothing when one section does not fit, and says which lines it looked for', async () => {
      const { text, isError } = await apply(
        patch('*** Add File: new.txt', '+x', '*** Update File: a.txt', '@@', '-three', '+3'),
      );
      assert.ok(
        text.startsWith(
          `apply_patch verification failed: Failed to find expected lines in ${path('a.txt')}:\nthree\n`,
        ),
        text,
      );
      assert.equal(isError, true);
      assert.equal(existsSync(path('new.txt')), false);
    });

    it('takes names relative to the workdir, which follows the rules of exec_command', async () => {
      mkdirSync(path('sub'));
      assert.equal((await apply(addition('n'), { workdir: 'sub' })).isError, false);
      assert.ok(existsSync(path('sub/n')));
      assert.match((await apply(addition('n'), { workdir: 'nowhere' })).text, /not an existing folder/);
    });

    for (const [what, input, expected] of [
      ['an empty patch', patch(), 'patch rejected: empty patch'],
      [
        'an environment line',
        patch('*** Environment ID: a', '*** Add File: n', '+x'),
        'apply_patch environment selection is unavailable for this turn',
      ],
      [
        'a line that is no header',
        patch('*** Rename File: a.txt'),
        `apply_patch verification failed: invalid hunk at line 2, '*** Rename File: a.txt' is not a valid hunk header.`,
      ],
      [
        'text without an envelope',
        'junk',
        `apply_patch verification failed: invalid patch: The first line of the patch must be '*** Begin Patch'`,
      ],
    ] as const) {
      it(`refuses ${what} in the reference's words`, async () => {
        const { text, isError } = await apply(input);
        assert.ok(text.startsWith(expected), text);
        assert.equal(isError, true);
      });
    }

    it('refuses an empty and an endless input with the field at fault', async () => {
      assert.match((await apply('')).text, /input \(""\): must not be empty: pass the text/);
      assert.match((await apply('x'.repeat(17 * 1024 * 1024))).text, /input .*longer than 16 MiB/);
    });

    it('refuses what the sandbox would not let commands write, naming path, clause and cure', async () => {
      const outside = await createTemporaryFolder('outside');
      symlinkSync(outside.path, path('link'));
      for (const name of ['link/n', join(outside.path, 'n'), `../${outside.path.split('/').at(-1)}/n`]) {
        const { text, isError } = await apply(addition(name));
        assert.match(
          text,
          /^patch rejected: writing outside of the project; rejected by user approval settings\n.*\/n may not be written: .*\(clause: writableRoots\)\n.*cordon\.sandbox\.writableRoots/,
        );
        assert.equal(isError, true);
      }
      assert.equal(existsSync(join(outside.path, 'n')), false);
      await outside.dispose();
    });

    it('names the files while it runs', () => {
      const tool = runtime.runtime.tools.find(({ name }) => name === 'apply_patch');
      assert.equal(tool?.invocationMessage({ input: addition('a b.txt') }), 'Patching a b.txt');
      assert.equal(tool?.invocationMessage({ input: 'junk' }), 'Patching files');
    });

    it('does nothing for a caller that has given up', async () => {
      const { text } = await runtime.call(
        'apply_patch',
        { input: addition('n') },
        { signal: AbortSignal.abort() },
      );
      assert.match(text, /aborted by user$/);
      assert.equal(existsSync(path('n')), false);
    });
  });

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
