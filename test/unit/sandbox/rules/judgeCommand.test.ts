import assert from 'node:assert/strict';
import { createBashParser } from '../../../../src/sandbox/commands/bashParser.ts';
import { withGrantedPrefixes } from '../../../../src/runtime/approvals/grantedRules.ts';
import { readShellCommand } from '../../../../src/sandbox/commands/commandLine.ts';
import { combineRules } from '../../../../src/sandbox/rules/combineRules.ts';
import type { Judgement } from '../../../../src/sandbox/rules/judgeCommand.ts';
import { judgeCommand, judgeRead } from '../../../../src/sandbox/rules/judgeCommand.ts';
import { noRules } from '../../../../src/sandbox/rules/rule.ts';
import type { RuleProblem, RuleSet } from '../../../../src/sandbox/rules/rule.ts';
import { rulesFrom } from '../../../harness/rules.ts';
import { commandLines } from '../commands/commandLines.ts';
import { tableRules } from './tableRules.ts';

const parse = createBashParser();

async function judge(
  line: string | readonly string[],
  rules: RuleSet,
  wanted?: readonly string[],
): Promise<Judgement> {
  return judgeCommand(typeof line === 'string' ? ['bash', '-lc', line] : line, rules, parse, wanted);
}

describe('judgeCommand(): the table of command lines', () => {
  for (const { line, decision } of commandLines) {
    it(`${decision ?? 'says nothing'} about ${JSON.stringify(line)}`, async () => {
      assert.equal((await judge(line, tableRules)).decision, decision);
    });
  }
});

describe('a shell that is not known', () => {
  const rules = rulesFrom('prefix_rule(pattern=["git", "push"], decision="forbidden")');
  const inShell = async (shell: string, script: string, known: RuleSet = rules): Promise<Judgement> =>
    judgeRead(await readShellCommand(shell, script, parse), known);

  for (const shell of [
    '/usr/bin/nu',
    '/usr/bin/elvish',
    '/usr/bin/tcsh',
    '/usr/bin/busybox',
    '/w/app/bin/x',
  ]) {
    it(`hides no command from what forbids or warns: ${shell}`, async () => {
      assert.equal((await inShell(shell, 'cd sub; git push')).decision, 'forbidden');
      assert.equal((await inShell(shell, 'rm -rf build')).class, 'forced-removal');
    });

    it(`is no way to be allowed or harmless, and no rule to offer: ${shell}`, async () => {
      const allowing = withGrantedPrefixes(noRules, [[shell]]);
      assert.equal((await inShell(shell, 'npm test', allowing)).decision, undefined);
      assert.equal((await inShell('/usr/bin/cat', 'npm test')).class, 'ordinary');
      assert.equal((await inShell(shell, 'npm test')).suggestion, undefined);
    });
  }

  it('is none of the system', async () => {
    for (const shell of ['/bin/bash', '/usr/bin/zsh', '/bin/sh']) {
      assert.equal((await inShell(shell, 'ls')).class, 'safe');
    }
  });
});

describe('an approved prefix lets nothing else through', () => {
  const rules = withGrantedPrefixes(noRules, [
    ['git', 'status'],
    ['xargs', 'git', 'status'],
  ]);

  for (const line of [
    'git status',
    'git status -s',
    "git 'status'",
    'git status && git status',
    'git status | head -3',
    'git status #; rm -rf /',
    'xargs git status',
    "bash -c 'git status'",
  ]) {
    it(`allows ${JSON.stringify(line)}`, async () => {
      assert.equal((await judge(line, rules)).decision, 'allow');
    });
  }

  const tricks: readonly (string | readonly string[])[] = [
    // More commands on the line.
    'git status; rm -rf /',
    'git status && touch x',
    'git status || touch x',
    'git status | sh',
    'git status |& sh',
    'git status & touch x',
    'git status &\ntouch x',
    'git status\ntouch x',
    'git status\rtouch x',
    'git status \\\n; touch x',
    'git status #\ntouch x',
    'touch x; git status',
    'git status;touch x',
    '! git status',
    // Words that are made when it runs.
    'git status && $(touch x)',
    'git status $(touch x)',
    'git status `touch x`',
    'git status <(touch x)',
    'git status "$(touch x)"',
    'git status ${x:-$(touch x)}',
    'git status $((x[$(touch x)]))',
    'git "status"$x',
    'git $x status',
    'git status $x',
    '$git status',
    'git status *',
    'git status ~',
    'git {status,push}',
    "git $'status\\n'",
    // Redirections.
    'git status > ~/.bashrc',
    'git status >> .git/config',
    'git status < /etc/shadow',
    'git status 2> x',
    'git status &> x',
    'git status >| x',
    'git status <> x',
    'git status <<< x',
    // Here-documents with more than text.
    'git status <<X\n$(touch x)\nX\n',
    'git status <<X; touch x\na\nX\n',
    'git status <<X\na\nX\ntouch x',
    // Another environment, another program.
    'GIT_SSH=x git status',
    'PATH=/tmp git status',
    'env GIT_SSH=x git status',
    'export PATH=/tmp; git status',
    'PATH=/tmp; git status',
    'hash -p /tmp/git git; git status',
    'enable -f /tmp/x git; git status',
    'alias git=touch; git status',
    'alias git=touch\ngit status',
    'git() { touch x; }; git status',
    'function git { touch x; }; git status',
    'source x; git status',
    '. x; git status',
    'eval git status',
    'set -a; git status',
    'command git status',
    'exec git status',
    'sudo git status',
    'nice git status',
    'time git status',
    '/tmp/git status',
    './git status',
    '/usr/bin/git status',
    '../git status',
    'GIT status',
    'git.exe status',
    // Other words.
    'git -c core.pager=x status',
    'git -C /tmp status',
    'git --git-dir=x status',
    'git',
    'git statuss',
    'git stat us',
    'git push #status',
    'git push # git status',
    "git 'status -s'",
    "git 'status;touch x'",
    "'git status'",
    "git ' status'",
    "git '' status",
    'gіt status',
    'git ｓtatus',
    'git\u200b status',
    'git\u00a0status',
    'git status\u2028touch x',
    'git status\u0000touch x',
    // Others that run it.
    "sh -x -c 'git status'",
    "bash -c 'git status' touch",
    "bash -c 'git status; touch x'",
    "/tmp/bash -c 'git status'",
    "bash --rcfile x -c 'git status'",
    'find . -exec git status \\;',
    'xargs touch',
    'xargs -I{} git status',
    'parallel git status',
    'ssh host git status',
    // What is not a list of commands.
    '(git status)',
    '{ git status; }',
    'if git status; then touch x; fi',
    'while git status; do touch x; done',
    'for git in status; do touch x; done',
    'case git in status) touch x;; esac',
    'coproc git status',
    'git status; }',
    "git status '",
    'git status "',
    'git status (',
    'git status \\',
    'git status ;; touch x',
    'git status & & touch x',
    '',
    ['git status'],
    ['git', 'status -s'],
    ['env', 'git', 'status'],
    ['bash', '-lc', 'git status', 'touch'],
    ['bash', '-c', '-x', 'git status'],
    ['pwsh', '-Command', 'git status; Remove-Item x'],
    ['pwsh', '-Command', 'git status $(Remove-Item x)'],
    ['cmd', '/c', 'git status & del x'],
    ['fish', '-c', 'git status; and touch x'],
    [],
  ];
  for (const line of tricks) {
    it(`not ${JSON.stringify(line)}`, async () => {
      const { decision } = await judge(line, rules);
      assert.notEqual(decision, 'allow');
    });
  }
});

describe('what is forbidden is found wherever it may run', () => {
  const rules = rulesFrom('prefix_rule(["git", "push"], "forbidden")\nprefix_rule(["git"])');

  for (const line of [
    'git push',
    '/usr/bin/git push',
    './git push',
    'GIT push',
    'git status; git push',
    'git push > x',
    'if git push; then ls; fi',
    'while ! git push; do sleep 1; done',
    'echo $(git push)',
    'echo "`git push`"',
    'cat <(git push)',
    '(git push) &',
    'f() { git push; }; f',
    'A=1 git push',
    'sudo -u root git push',
    'env A=1 git push',
    'nice -n 5 timeout 10 git push',
    'xargs -n 1 git push',
    "bash -c 'git push'",
    "sudo sh -c 'cd x && git push'",
    "find . -exec sh -c 'git push' \\;",
    'ls <<X\n$(git push)\nX\n',
    "bash <<'X'\ngit push\nX\n",
    'git push "',
    'trap "git push" EXIT',
  ]) {
    it(JSON.stringify(line), async () => {
      assert.equal((await judge(line, rules)).decision, 'forbidden');
    });
  }

  for (const line of ['git pull', 'echo git push', "git commit -m 'git push'", 'git stash push']) {
    it(`but ${JSON.stringify(line)} is not that`, async () => {
      assert.notEqual((await judge(line, rules)).decision, 'forbidden');
    });
  }
});

describe('judgeCommand()', () => {
  it('takes the strictest of all rules and of all commands', async () => {
    const rules = rulesFrom(`
prefix_rule(["git"])
prefix_rule(["git", "push"], "prompt")
prefix_rule(["git", "push", "--force"], "forbidden")
`);
    const decisions = ['git log', 'git push', 'git log; git push', 'git push --force; git push'];
    assert.deepEqual(await Promise.all(decisions.map(async (line) => (await judge(line, rules)).decision)), [
      'allow',
      'prompt',
      'prompt',
      'forbidden',
    ]);
    const { matches } = await judge('git push; ls', rules);
    assert.deepEqual(
      matches.map(({ words, rule }) => [words, rule.origin.place]),
      [
        [['git', 'push'], 'test.rules:3'],
        [['git', 'push'], 'test.rules:2'],
      ],
    );
  });

  it('allows a path only where host_executable lists it, and not where `..` may lead', async () => {
    const rules = rulesFrom('prefix_rule(["git"])\nhost_executable("git", ["/usr/bin/git"])');
    const decide = async (program: string): Promise<unknown> => (await judge([program], rules)).decision;
    assert.equal(await decide('/usr/bin/git'), 'allow');
    assert.equal(await decide('/usr//bin/./git'), 'allow');
    assert.equal(await decide('/tmp/git'), undefined);
    assert.equal(await decide('/tmp/link/../../usr/bin/git'), undefined);
    assert.equal(await decide('usr/bin/git'), undefined);
  });

  it('lets a line leave the sandbox only when rules say so for each command of it', async () => {
    const outside = rulesFrom('prefix_rule(["git"])\nprefix_rule(["make"])');
    const rules = withGrantedPrefixes(outside, [['npm', 'test']]);
    const reach = async (line: string): Promise<unknown> => (await judge(line, rules)).runs;
    assert.equal(await reach('git fetch'), 'outside');
    assert.equal(await reach('git fetch && make'), 'outside');
    assert.equal(await reach('npm test'), 'inside');
    assert.equal(await reach('npm test && git fetch'), 'inside');
    // Nobody said that what only reads may read everything.
    assert.equal(await reach('git fetch; cat x'), 'inside');
    assert.equal(await reach('cargo test'), undefined);
  });

  it('allows what is safe beside what a rule allows, but not alone and not with a here-document', async () => {
    const rules = rulesFrom('prefix_rule(["make"])');
    const decide = async (line: string): Promise<unknown> => (await judge(line, rules)).decision;
    assert.equal(await decide('make | tail -3'), 'allow');
    assert.equal(await decide('tail -3 x'), undefined);
    assert.equal(await decide("make <<'X'\na\nX\n"), 'allow');
    assert.equal(await decide("cat <<'X'\na\nX\n"), undefined);
  });

  it('names the rule that came closest', async () => {
    const rules = rulesFrom(`
prefix_rule(["git"], "prompt")
prefix_rule(["git", "push", "origin", "main"])
prefix_rule(["npm"])
`);
    const nearest = async (line: string): Promise<unknown> =>
      (await judge(line, rules)).nearest?.origin.place;
    assert.equal(await nearest('git push origin x'), 'test.rules:3');
    assert.equal(await nearest('make; git status'), 'test.rules:3');
    assert.equal(await nearest('git push origin main'), undefined);
    assert.equal(await nearest('make'), undefined);
  });

  it('suggests a prefix only if it would allow the whole line', async () => {
    const rules = rulesFrom(`
prefix_rule(["git", "status"])
prefix_rule(["git", "push"], "prompt")
`);
    const suggest = async (line: string, wanted?: readonly string[]): Promise<unknown> =>
      (await judge(line, rules, wanted)).suggestion;
    assert.deepEqual(await suggest('cargo test --all'), ['cargo', 'test']);
    assert.deepEqual(await suggest('git status; cargo test | head -3'), ['cargo', 'test']);
    assert.deepEqual(await suggest('cargo test; cargo test --all'), ['cargo', 'test']);
    assert.deepEqual(await suggest('cargo test --all', ['cargo', 'test', '--all']), [
      'cargo',
      'test',
      '--all',
    ]);
    assert.deepEqual(await suggest('cargo test --all', ['cargo', 'build']), ['cargo', 'test']);
    assert.deepEqual(await suggest('python3 -c 1', ['python3', '-c']), undefined);
    assert.deepEqual(await suggest('cargo test; npm install'), undefined);
    assert.deepEqual(await suggest('git status'), undefined);
    assert.deepEqual(await suggest('git push'), undefined);
    assert.deepEqual(await suggest('cargo test > x', ['cargo', 'test']), undefined);
    assert.deepEqual(await suggest("cargo test <<'X'\na\nX\n", ['cargo', 'test']), undefined);
    assert.deepEqual(await suggest('find . -exec rm -f {} +', ['find', '.']), undefined);
    assert.deepEqual(await suggest('ls', ['ls']), undefined);
  });

  it('keeps what it suggests: the grant allows the line', async () => {
    for (const { line } of commandLines) {
      const { suggestion } = await judge(line, noRules);
      if (suggestion !== undefined) {
        const granted = withGrantedPrefixes(noRules, [suggestion]);
        assert.equal((await judge(line, granted)).decision, 'allow', JSON.stringify(line));
      }
    }
  });

  it('asks about all but what is safe while rules cannot be read, and forbids it while those of the administrator cannot', async () => {
    const broken = (source: RuleProblem['source']): RuleSet => ({
      ...rulesFrom('prefix_rule(["make"])'),
      problems: [{ source, place: 'x.rules:1:1', message: 'x.rules:1:1: broken.' }],
    });
    const decide = async (line: string, source: RuleProblem['source']): Promise<unknown> =>
      (await judge(line, broken(source))).decision;
    assert.equal(await decide('make', 'workspace'), 'prompt');
    assert.equal(await decide('npm test', 'user'), 'prompt');
    assert.equal(await decide('echo $(x)', 'user'), 'prompt');
    assert.equal(await decide('ls', 'user'), undefined);
    assert.equal(await decide('make', 'managed'), 'forbidden');
    assert.equal(await decide('ls', 'managed'), 'forbidden');
    assert.equal((await judge('make', broken('user'))).problem?.place, 'x.rules:1:1');
  });

  it('lets a workspace only narrow', async () => {
    const workspace = rulesFrom(
      `
prefix_rule(["make"])
prefix_rule(["npm", "publish"], "forbidden")
host_executable("git", ["/tmp/git"])
network_rule("example.org", "https", "allow")
network_rule("example.com", "https", "deny")
`,
      'workspace',
    );
    const user = rulesFrom('prefix_rule(["git"])\nprefix_rule(["npm"])');
    const rules = combineRules({ managed: noRules, user, workspace });
    const decide = async (line: string): Promise<unknown> => (await judge(line, rules)).decision;
    assert.equal(await decide('make'), undefined);
    assert.equal(await decide('/tmp/git'), undefined);
    assert.equal(await decide('npm publish'), 'forbidden');
    assert.equal(await decide('npm test'), 'allow');
    assert.deepEqual(
      rules.networks.map(({ host }) => host),
      ['example.com'],
    );
  });
});
