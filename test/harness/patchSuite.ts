import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from './temporaryFolder.ts';
import type { CreateTestRuntime, TestRuntime } from './testRuntime.ts';

export const patch = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
export const addition = (name: string): string => patch(`*** Add File: ${name}`, '+x');

/** What apply_patch does alike, wherever the files are, when nobody reviews. */
export function describePatches(
  where: string,
  createTestRuntime: CreateTestRuntime,
  // Another server sees only what its sandbox shows.
  { seesOutside = true }: { readonly seesOutside?: boolean } = {},
): void {
  let runtime: TestRuntime;
  const apply = (input: string, options: object = {}) => runtime.call('apply_patch', { input, ...options });
  const path = (name: string) => join(runtime.root, name);

  describe(`apply_patch without reviews ${where}`, () => {
    afterEach(() => runtime.dispose());
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
        const isLink = name.startsWith('link');
        assert.match(
          text,
          isLink && !seesOutside
            ? /No such file/
            : /^patch rejected: writing outside of the project; rejected by user approval settings\n.*\/n may not be written: .*\(clause: writableRoots\)\n.*cordon\.sandbox\.writableRoots/,
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
}
