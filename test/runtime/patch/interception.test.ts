import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { createAccessUnder } from '../../../src/patch/accessUnder.ts';
import { createDiskPatchHost } from '../../../src/patch/diskPatchHost.ts';
import { createTestRuntime } from '../../harness/testRuntime.ts';
import type { TestRuntime } from '../../harness/testRuntime.ts';

const corpusPath = join(import.meta.dirname, '../../../../shared/corpus/apply-patch-invocation/cases.json');

/** What Cordon does better than the reference (reference §14), with what it does. */
const better: Readonly<Record<string, { readonly changed: Changed; readonly output: string }>> = {
  'body-same-file-twice': {
    changed: { 'f.txt': 'A\nB\nc\n' },
    output: success('M f.txt\nM f.txt'),
  },
  'body-text-before': { changed: { 'f.txt': 'a\nB\nc\n' }, output: success('M f.txt') },
};

const inSub = { 'sub/f.txt': 'a\nB\nc\n' };
/** What a shell does with the calls that are left to it, where that is not the edit of `f.txt`. */
const shellChanges: Readonly<Record<string, Changed>> = {
  'apply-hyphen-patch': {},
  uppercase: {},
  argument: {},
  'argument-double-dash': {},
  'argument-option': {},
  'path-command': {},
  sudo: {},
  // A login shell inside resets the search path again.
  'nested-bash': {},
  // The session ends with its shell, and the program with it.
  background: {},
  'raw-invalid': {},
  'redirect-output': { 'f.txt': 'a\nB\nc\n', 'out.txt': 'Success. Updated the following files:\nM f.txt\n' },
  'two-patches': { 'f.txt': 'a\nB\nc\n', q: 'q\n' },
  'from-file': { 'f.txt': 'a\nFROMFILE\nc\n' },
  'cd-variable': inSub,
  'cd-concatenated': inSub,
  'cd-without-argument': {},
  'cd-two-arguments': {},
  'cd-option': inSub,
  'cd-semicolon': inSub,
  'cd-newline': inSub,
  'cd-or': {},
  'cd-and-after': inSub,
  pushd: inSub,
};

describe('exec_command over the corpus of patch calls', () => {
  if (!existsSync(corpusPath)) {
    it.skip(`needs the corpus at ${corpusPath}`);
    return;
  }
  const corpus = JSON.parse(readFileSync(corpusPath, 'utf8')) as Corpus;
  const shells = { sh: '/bin/sh', '/bin/dash': '/bin/dash' } as const;
  let runtime: TestRuntime;

  beforeEach(async () => {
    runtime = await createTestRuntime();
    for (const [name, content] of Object.entries(corpus.files)) {
      await mkdir(dirname(join(runtime.root, name)), { recursive: true });
      await writeFile(join(runtime.root, name), content);
    }
  });
  afterEach(() => runtime.dispose());

  for (const { name, note, cmd, outcome, workdir, login, shell, tty, ...expected } of corpus.cases) {
    it(`${name}: ${note}`, async () => {
      const result = await runtime.call('exec_command', {
        cmd: cmd.replaceAll('{{ROOT}}', runtime.root),
        ...(workdir !== undefined && { workdir }),
        ...(login !== undefined && { login }),
        ...(shell !== undefined && { shell: shells[shell as keyof typeof shells] }),
        ...(tty !== undefined && { tty }),
      });
      if (outcome === 'passthrough') {
        assert.match(result.text, /^Chunk ID: [^]*Process exited with code/);
        // In the corpus no program of that name was found, because the profile of its machine hides it.
        const changed = login === false ? expected.changed : (shellChanges[name] ?? { 'f.txt': 'a\nB\nc\n' });
        assert.deepEqual(await changes(corpus.files, changed), changed);
        return;
      }
      const { changed, output } = better[name] ?? expected;
      assert.deepEqual(await changes(corpus.files, changed), changed);
      const text = result.text
        .replaceAll(runtime.root, '{{ROOT}}')
        .replace(/\d+\.\d{4} seconds/g, 'N seconds');
      assert.ok(text.startsWith(output), text);
      assert.equal(result.sessionId, undefined, 'a shell ran');
      assert.equal(result.isError, !output.includes('Exit code: 0'));
    });
  }

  /** What differs from the files that were there, and what is there of the files that should have come to be. */
  async function changes(before: Readonly<Record<string, string>>, expected: Changed): Promise<Changed> {
    const found: Record<string, string | null> = {};
    for (const name of new Set([...Object.keys(before), ...Object.keys(expected)])) {
      const path = isAbsolute(name) ? name : join(runtime.root, name);
      const content = await readFile(path, 'utf8').catch(() => null);
      if (content !== (before[name] ?? null)) {
        found[name] = content;
      }
    }
    return found;
  }
});

describe('exec_command and patches', () => {
  let runtime: TestRuntime;
  afterEach(() => runtime.dispose());

  const call = (body: string) => `apply_patch <<'EOF'\n*** Begin Patch\n${body}\n*** End Patch\nEOF`;

  it('lets the policy of the folder decide about an intercepted patch, wherever cd leads', async () => {
    runtime = await createTestRuntime();
    const outside = await runtime.call('exec_command', {
      cmd: `cd /usr/share && ${call('*** Add File: cordon-made\n+x')}`,
    });
    assert.match(
      outside.text,
      /^patch rejected: writing outside of the project; rejected by user approval settings\n/,
    );
    assert.match(outside.text, /\/usr\/share\/cordon-made may not be written/);
    assert.equal(outside.isError, true);
    assert.equal(existsSync('/usr/share/cordon-made'), false);
    const metadata = await runtime.call('exec_command', {
      cmd: call('*** Add File: .git/hooks/pre-commit\n+x'),
    });
    assert.match(metadata.text, /\.git is protected/);
  });

  it('writes nothing under a read-only policy', async () => {
    runtime = await createTestRuntime({ mode: 'read-only' });
    const { text } = await runtime.call('exec_command', { cmd: call('*** Add File: made\n+x') });
    assert.match(
      text,
      /^patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings\n/,
    );
    assert.equal(existsSync(join(runtime.root, 'made')), false);
  });

  it('asks for reviews of an intercepted patch as for one of the tool, and for nothing else', async () => {
    const reviewed: string[] = [];
    const host = createDiskPatchHost(createAccessUnder());
    runtime = await createTestRuntime({ mode: 'danger-full-access' }, process.env, {
      reviewMode: 'outsideRules',
      patchHost: {
        ...host,
        async review({ title }) {
          reviewed.push(title);
          return { kind: 'abandoned' };
        },
      },
    });
    const run = (path: string) =>
      runtime.call('exec_command', { cmd: call(`*** Add File: ${path}\n+x`) }, { allow: false });
    assert.match((await run('made')).text, /A made/);
    const outside = join(homedir(), `.cordon-intercepted-${process.pid}`);
    await run(outside);
    assert.deepEqual(reviewed, [outside]);
    assert.equal(existsSync(outside), false);
  });

  it('refuses a bare patch in any shell, with what to do', async () => {
    runtime = await createTestRuntime();
    const { text } = await runtime.call('exec_command', {
      cmd: '*** Begin Patch\n*** Add File: made\n+x\n*** End Patch',
      tty: true,
    });
    assert.match(text, /Rerun as \["apply_patch", "<patch>"\]/);
    assert.equal(runtime.runtime.sessions.list().length, 0);
  });
});

function success(lines: string): string {
  return `Wall time: N seconds\nOutput:\nExit code: 0\nWall time: N seconds\nOutput:\nSuccess. Updated the following files:\n${lines}\n`;
}

type Changed = Readonly<Record<string, string | null>>;

interface Corpus {
  readonly files: Readonly<Record<string, string>>;
  readonly cases: readonly {
    readonly name: string;
    readonly note: string;
    readonly cmd: string;
    readonly workdir?: string;
    readonly login?: boolean;
    readonly shell?: string;
    readonly tty?: boolean;
    readonly outcome: 'intercepted' | 'verification_failed' | 'implicit_rejected' | 'passthrough';
    readonly changed: Changed;
    readonly output: string;
  }[];
}
