import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBashParser } from '../../../../src/sandbox/commands/bashParser.ts';
import type { BashParser } from '../../../../src/sandbox/commands/bashParser.ts';
import { recognizePatchCommand } from '../../../../src/patch/invocation/recognizePatchCommand.ts';

const corpusPath = join(
  import.meta.dirname,
  '../../../../../shared/corpus/apply-patch-invocation/cases.json',
);

const patch = '*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\n';
const parse = createBashParser();

describe('recognizePatchCommand() over the corpus', () => {
  if (!existsSync(corpusPath)) {
    it.skip(`needs the corpus at ${corpusPath}`);
    return;
  }
  const corpus = JSON.parse(readFileSync(corpusPath, 'utf8')) as Corpus;
  const kindOf = {
    intercepted: 'patch',
    verification_failed: 'patch',
    implicit_rejected: 'implicit',
    passthrough: 'none',
  } as const;

  for (const { name, cmd, outcome, note } of corpus.cases) {
    it(`${name}: ${note}`, async () => {
      const script = cmd.replaceAll('{{ROOT}}', '/root/folder');
      const { kind } = await recognizePatchCommand(['bash', '-lc', script], parse);
      assert.equal(kind, kindOf[outcome]);
    });
  }

  for (const { argv, kind } of corpus.argv.rows) {
    it(`${argv.join(' ')}: ${kind}`, async () => {
      const script = `apply_patch <<'EOF'\n${patch}EOF`;
      const words = argv.map((word) => word.replace('<script>', script).replace('<patch>', patch));
      const found = await recognizePatchCommand(words, parse);
      const expected = { script: 'patch', direct: 'patch', implicit_rejected: 'implicit', none: 'none' };
      assert.deepEqual(found, { kind: expected[kind], ...(expected[kind] === 'patch' && { text: patch }) });
    });
  }
});

describe('recognizePatchCommand()', () => {
  const call = `apply_patch <<'EOF'\n${patch}EOF`;
  const script = (text: string) => recognizePatchCommand(['bash', '-lc', text], parse);

  it('gives the text as written: nothing expanded, no tab stripped, characters beyond the basic plane kept', async () => {
    const body = '\n\n\t*** Begin Patch 😀 ü\n+$HOME `id` $(pwd) \\\n\\EOF\n';
    const found = await script(`\n\n  apply_patch <<-EOF\n${body}EOF\n`);
    assert.deepEqual(found, { kind: 'patch', text: body });
  });

  it('keeps the line ends of the script', async () => {
    const found = await script(call.replaceAll('\n', '\r\n'));
    assert.deepEqual(found, { kind: 'patch', text: patch.replaceAll('\n', '\r\n') });
  });

  for (const [words, workdir] of [
    ['cd sub', 'sub'],
    [`cd 'my dir'`, 'my dir'],
    ['cd "my dir"', 'my dir'],
    ['cd my\\ dir', 'my\\ dir'],
    ['cd ~', '~'],
    ['cd -', '-'],
    ['cd "$PWD/sub"', '/sub'],
    ['cd "sub/$X"', 'sub/'],
    ['FOO=1 cd /a/b', '/a/b'],
  ] as const) {
    it(`takes the folder of ${words} as ${workdir}`, async () => {
      assert.deepEqual(await script(`${words} && ${call}`), { kind: 'patch', text: patch, workdir });
    });
  }

  for (const [what, text] of [
    ['in the background', `${call} &`],
    ['with a case terminator', `${call};;`],
    ['with a comment on the line of the operator', `apply_patch <<'EOF' # why\n${patch}EOF`],
    ['with words behind the tag', `cd sub && apply_patch <<'EOF' foo\n${patch}EOF`],
    ['with its output redirected before', `apply_patch > out <<'EOF'\n${patch}EOF`],
    ['with an output redirection of cd', `cd sub > out && ${call}`],
    ['with two literal parts around a variable', `cd "a$B/c" && ${call}`],
    ['with only a variable as folder', `cd "$A" && ${call}`],
    ['with an escaped quote between quotes', `cd 'it'\\''s' && ${call}`],
    ['with an escape string as folder', `cd $'a\\tb' && ${call}`],
    ['with a comment inside the chain', `cd sub && # why\n${call}`],
    ['negated behind cd', `cd sub && ! ${call}`],
    ['with a here-document that a substitution leaves open', `apply_patch <<EOF\n$(echo "a\n${patch}EOF`],
    ['inside a function', `f() { ${call}\n}`],
    ['with prose around a bare patch', `Here is the patch:\n${patch}`],
  ] as const) {
    it(`leaves a call ${what} to the shell`, async () => {
      assert.deepEqual(await script(text), { kind: 'none' });
    });
  }

  it('loads no grammar for scripts that cannot be a call', async () => {
    const refuse: BashParser = () => assert.fail('parsed');
    for (const text of ['ls -l', 'cat <<EOF\nx\nEOF', 'git apply_patch', patch]) {
      await recognizePatchCommand(['bash', '-lc', text], refuse);
    }
  });

  it('leaves a script to the shell that takes the grammar too long, and reads the next one', async () => {
    const impatient = createBashParser(0);
    const endless = `apply_patch << ${'case a in b) '.repeat(5_000)}`;
    assert.deepEqual(await recognizePatchCommand(['sh', '-c', endless], impatient), { kind: 'none' });
    const found = await recognizePatchCommand(['sh', '-c', call], impatient);
    assert.deepEqual(found, { kind: 'patch', text: patch });
  });

  it('takes a bare patch for one only when it parses, whatever it mentions', async () => {
    const mentions = patch.replace('+x', `+apply_patch <<'EOF'`);
    assert.deepEqual(await script(mentions), { kind: 'implicit' });
    assert.deepEqual(await recognizePatchCommand(['ls'], parse), { kind: 'none' });
  });
});

interface Corpus {
  readonly cases: readonly {
    readonly name: string;
    readonly note: string;
    readonly cmd: string;
    readonly outcome: 'intercepted' | 'verification_failed' | 'implicit_rejected' | 'passthrough';
  }[];
  readonly argv: {
    readonly rows: readonly {
      readonly argv: readonly string[];
      readonly kind: 'script' | 'direct' | 'implicit_rejected' | 'none';
    }[];
  };
}
