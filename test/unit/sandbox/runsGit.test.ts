import assert from 'node:assert/strict';
import { createBashParser } from '../../../src/sandbox/commands/bashParser.ts';
import { runsGit } from '../../../src/sandbox/commands/runsGit.ts';
import { policyForCommand } from '../../../src/runtime/orchestrator.ts';
import { policyOf } from '../../harness/policyOf.ts';

const parse = createBashParser();

describe('runsGit()', () => {
  const scripts: readonly (readonly [string, boolean])[] = [
    ['git commit -m x', true],
    ['/usr/bin/git status', true],
    ['"git" add .', true],
    ['GIT_EDITOR=true git rebase', true],
    ['cd sub && git add . && git commit -m "a b"', true],
    ['if ! git diff --quiet; then echo changed; fi', true],
    ['for f in a b; do (git add "$f"); done', true],
    ['echo "branch: $(git rev-parse HEAD)"', true],
    ['diff <(git show HEAD:a) a', true],
    ['git log | head > log.txt 2>&1', true],
    ['make 2>/dev/null || git stash &', true],
    ['f() { git "$@"; }; f status', true],
    ['timeout 5 git fetch', true],
    ['find . -name x | xargs -n 1 git add', true],
    ["bash -c 'cd x; git pull'", true],
    ['gh pr create', true],
    ['git-lfs install', true],
    ['pre-commit run', true],
    ['jj commit', true],
    ['bash', true],
    ['bash -il', true],
    ['npm test', false],
    ['echo git', false],
    ['cat .git/config', false],
    ['ls # git', false],
    ["echo 'git commit'", false],
    ['digit 3', false],
    ['git_helper', false],
    ['$cmd commit', false],
    ['curl x | sh', false],
    ['sh < script', false],
    ['npm test; bash', false],
    ['sh script.sh', false],
    ['git commit "', false],
    ['git (', false],
    ['', false],
  ];
  for (const [script, expected] of scripts) {
    it(`is ${expected} for ${JSON.stringify(script)}`, async () => {
      for (const argv of [
        ['bash', '-c', script],
        ['/bin/sh', '-lc', script],
        ['zsh', '-c', script],
      ]) {
        assert.equal(await runsGit(argv, parse), expected, argv.join(' '));
      }
    });
  }

  const lines: readonly (readonly [readonly string[], boolean])[] = [
    [['git', 'commit'], true],
    [['/opt/git/bin/git'], true],
    [['env', 'A=1', 'git', 'status'], true],
    [['zsh'], true],
    [['fish', '-l'], true],
    [['npm', 'run', 'git'], false],
    [['python', '-c', 'git'], false],
    [['bash', '-c', 'git status', 'name'], true],
    [['sudo', '-u', 'me', 'git', 'status'], true],
    [['find', '.', '-exec', 'git', 'add', '{}', '+'], true],
    [['echo', 'sudo', 'git'], false],
    [['timeout', '5', 'echo', 'git'], false],
    [[], false],
  ];
  for (const [argv, expected] of lines) {
    it(`is ${expected} for the argv ${JSON.stringify(argv)}`, async () => {
      assert.equal(await runsGit(argv, parse), expected);
    });
  }

  it('loads no grammar for scripts that have no such word', async () => {
    const never = () => Promise.reject(new Error('parsed'));
    assert.equal(await runsGit(['sh', '-c', 'npm test'], never), false);
    await assert.rejects(runsGit(['sh', '-c', 'git x'], never));
  });

  it('ends with scripts in scripts', async () => {
    const nested = Array.from({ length: 6 }).reduce<string>(
      (inner) => `bash -c '${inner.replaceAll("'", "'\\''")}'`,
      'git x',
    );
    assert.equal(await runsGit(['sh', '-c', nested], parse), false);
  });
});

describe('policyForCommand()', () => {
  const policy = policyOf('/w', { git: 'commands' });

  it('opens .git for command lines with git, and for no others', async () => {
    const open = await policyForCommand(policy, ['git', 'commit'], parse);
    assert.deepEqual([open.git, open.sources.git], ['writable', 'request']);
    const closed = await policyForCommand(policy, ['npm', 'test'], parse);
    assert.deepEqual([closed.git, closed.sources.git], ['read-only', 'request']);
  });

  it('leaves the other words as they are', async () => {
    for (const git of ['read-only', 'writable'] as const) {
      const same = policyOf('/w', { git });
      assert.equal(await policyForCommand(same, ['git', 'commit'], parse), same);
    }
  });
});
