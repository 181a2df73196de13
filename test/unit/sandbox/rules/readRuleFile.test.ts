import assert from 'node:assert/strict';
import { readRuleFile } from '../../../../src/sandbox/rules/file/readRuleFile.ts';
import { rulesFrom } from '../../../harness/rules.ts';

describe('readRuleFile', () => {
  it('reads the three functions, arguments by name and by place', () => {
    const rules = rulesFrom(`
      # Comments stand anywhere.
prefix_rule(
    pattern = ["git", ["push", "fetch"]],  # alternatives
    decision = "prompt",
    justification = "talks to servers",
    match = ["git push origin", ["git", "fetch"]],
    not_match = ["git status"],
)
prefix_rule(["ls"]); prefix_rule(["rm"], "forbidden")
host_executable("git", ["/usr/bin/git", "/opt/./bin//git"])
network_rule("API.example.org.:443", "http-connect", "deny", justification = "not there")
`);
    const origin = (line: number) => ({ source: 'user', place: `test.rules:${line}` });
    assert.deepEqual(rules, {
      prefixes: [
        {
          pattern: [['git'], ['push', 'fetch']],
          decision: 'prompt',
          runs: 'outside',
          justification: 'talks to servers',
          origin: origin(3),
        },
        { pattern: [['ls']], decision: 'allow', runs: 'outside', origin: origin(10) },
        { pattern: [['rm']], decision: 'forbidden', runs: 'outside', origin: origin(10) },
      ],
      hostExecutables: new Map([['git', ['/usr/bin/git', '/opt/bin/git']]]),
      networks: [
        {
          host: 'api.example.org',
          protocol: 'https',
          decision: 'forbidden',
          justification: 'not there',
          origin: origin(12),
        },
      ],
      problems: [],
    });
  });

  it('computes with strings and lists', () => {
    const { prefixes } = rulesFrom(`"""A text alone says nothing."""
tool = "g" + ("i" + 't')
reading = ["status"] + ["log",
  "diff"]
prefix_rule([tool, reading + ["show"]])
tool = "hg"
prefix_rule([tool] + reading,)
`);
    assert.deepEqual(
      prefixes.map(({ pattern }) => pattern),
      [
        [['git'], ['status', 'log', 'diff', 'show']],
        [['hg'], ['status'], ['log'], ['diff']],
      ],
    );
  });

  const strings: readonly (readonly [written: string, value: string])[] = [
    [String.raw`'a\nb\tc'`, 'a\nb\tc'],
    [String.raw`"\x41\u0042\U00000043\104\0"`, 'ABCD\0'],
    [String.raw`'\1012'`, 'A2'],
    [String.raw`'\q\8'`, String.raw`\q\8`],
    [String.raw`'it\'s'`, "it's"],
    [String.raw`r'a\nb\''`, String.raw`a\nb'`],
    [`'''a'b\n"c"'''`, 'a\'b\n"c"'],
    [`"""a\r\nb"""`, 'a\nb'],
    [`'a\\\nb'`, 'ab'],
    [`''`, ''],
    [`''''a'''`, "'a"],
    ['"# no comment"', '# no comment'],
  ];
  for (const [written, value] of strings) {
    it(`reads the string ${JSON.stringify(written)}`, () => {
      assert.deepEqual(rulesFrom(`prefix_rule([${written}])`).prefixes[0]?.pattern, [[value]]);
    });
  }

  const errors: readonly (readonly [text: string, message: string])[] = [
    ['prefix_rule(["a", 3])', '1:19: found "3", but expected a string, a list or a name.'],
    ['prefix_rule(["a"', '1:17: found the end of the file, but expected "," or "]".'],
    ['prefix_rule(["a"]\n\nx = "b"', '3:1: found x, but expected "," or ")".'],
    ['prefix_rule(["a" "b"])', '1:18: found "b", but expected "," or "]".'],
    ['prefix_rule([,])', '1:14: found ",", but expected a string, a list or a name.'],
    ['prefix_rule(["a"],,)', '1:19: found ",", but expected a string, a list or a name.'],
    ['x = "a', `1:5: found a string without an end, but expected " at its end.`],
    ['x = "a\nb"', `1:5: found a string without an end, but expected " at its end.`],
    ["x = f'a'", '1:5: found the prefix f, but expected a string without or with the prefix r.'],
    [
      String.raw`x = "\x4"`,
      String.raw`1:6: found \x, but expected the number of a character: \x41, \u0041 or \U00000041.`,
    ],
    [
      String.raw`x = "\ud800"`,
      String.raw`1:6: found \ud800, but expected the number of a character: \x41, \u0041 or \U00000041.`,
    ],
    ['\tx = "a"', '1:1: found a tab, but expected a string, a list or a name.'],
    ['x = "a"\n  y = "b"', '2:3: found an indented line, but expected a string, a list or a name.'],
    ['x = ("a", "b")', '1:9: found ",", but expected ")" (there are lists, but no tuples).'],
    ['x = "a" + ["b"]', '1:11: found a list after a string, but expected a string.'],
    ['x = {"a": 1}', '1:5: found "{", but expected a string, a list or a name.'],
    ['x += "a"', '1:1: found x, but expected a string, a list or a name that was given a value before.'],
    ['x = y = "a"', '1:5: found y, but expected a string, a list or a name that was given a value before.'],
    [
      'prefix_rule([y])\ny = "a"',
      '1:14: found y, but expected a string, a list or a name that was given a value before.',
    ],
    [
      'if True:\n  prefix_rule(["a"])',
      '1:1: found if, but expected an assignment or a call of prefix_rule, host_executable, network_rule: rules know no other statement.',
    ],
    [
      'def f():\n  pass',
      '1:1: found def, but expected an assignment or a call of prefix_rule, host_executable, network_rule: rules know no other statement.',
    ],
    [
      'load("x", "y")',
      '1:1: found a call of load, but expected one of prefix_rule, host_executable, network_rule.',
    ],
    [
      'prefix_rule = "a"',
      '1:1: found an assignment to prefix_rule, but expected a name that has no meaning of its own.',
    ],
    [
      'import = "a"',
      '1:1: found an assignment to import, but expected a name that has no meaning of its own.',
    ],
    ['prefix_rule(decision="allow", ["a"])', '1:31: found "[", but expected name = value, as before it.'],
    ['prefix_rule(["a"], pattern=["b"])', '1:20: found pattern once more, but expected each argument once.'],
    [
      'prefix_rule(pattern=["a"], pattern=["b"])',
      '1:28: found pattern once more, but expected each argument once.',
    ],
    [
      'prefix_rule(["a"], reviewer="x")',
      '1:20: found the argument reviewer, but expected one of pattern, decision, match, not_match, justification.',
    ],
    ['\nprefix_rule(decision="allow")', '2:1: found prefix_rule without pattern, but expected pattern = ….'],
    ['prefix_rule(["a"], "allow", [], [], "x", "y")', '1:42: found "y", but expected at most 5 arguments.'],
    ['prefix_rule([])', '1:13: found a pattern without words, but expected at least one.'],
    ['prefix_rule(["a", []])', '1:19: found a list without alternatives, but expected at least one.'],
    ['prefix_rule(["a", ["b", ["c"]]])', '1:25: found a list of 1, but expected a string.'],
    ['prefix_rule("a")', '1:13: found "a", but expected a list of strings and lists of strings.'],
    ['prefix_rule(["a"], "deny")', '1:20: found "deny", but expected one of "allow", "prompt", "forbidden".'],
    [
      'prefix_rule(["a"], justification=" ")',
      '1:34: found " ", but expected a reason, or no justification at all.',
    ],
    ['prefix_rule(["a"], match="a")', '1:26: found "a", but expected a list of command lines.'],
    [
      'prefix_rule(["a"], match=["a \'b"])',
      `1:27: found "a 'b", but expected a command line in which each quote ends.`,
    ],
    ['prefix_rule(["a"], match=["# a"])', '1:27: found an example without words, but expected at least one.'],
    [
      'prefix_rule(["a", "b"], match=["a b", "a c"])',
      '1:39: found the example `a c`, which the rule `a b` does not match (no rule does), but expected a command that begins with the words of the rule `a b`.',
    ],
    [
      'prefix_rule(["a", ["b", "c"]], not_match=[["a", "c"]])',
      '1:43: found the example `a c`, which the rule `a b|c` matches, but expected a command that the rule `a b|c` does not match.',
    ],
    [
      'prefix_rule(["git"])\nprefix_rule(["hg"], match=["git x"])',
      '2:28: found the example `git x`, which the rule `hg` does not match (the rule `git` of test.rules:1 does), but expected a command that begins with the words of the rule `hg`.',
    ],
    [
      'prefix_rule(["git"], match=["/bin/git x"])\nhost_executable("git", ["/usr/bin/git"])',
      '1:29: found the example `/bin/git x`, which the rule `git` does not match (no rule does), but expected a command that begins with the words of the rule `git`.',
    ],
    ['host_executable("a/b", [])', '1:17: found "a/b", but expected the name of a program without folders.'],
    [
      'host_executable("git", ["bin/git"])',
      '1:24: found "bin/git", but expected absolute paths that end with /git.',
    ],
    [
      'host_executable("git", ["/usr/bin/hg"])',
      '1:24: found "/usr/bin/hg", but expected absolute paths that end with /git.',
    ],
    [
      'network_rule("*.example.org", "https", "allow")',
      '1:14: found "*.example.org", but expected one host, as in "example.org": no scheme, path, wildcard or space.',
    ],
    [
      'network_rule("example.org", "ftp", "allow")',
      '1:29: found "ftp", but expected one of "http", "https", "socks5_tcp", "socks5_udp".',
    ],
    [
      'network_rule("example.org", "http", "never")',
      '1:37: found "never", but expected one of "allow", "prompt", "forbidden", "deny".',
    ],
    [`x = ${'['.repeat(60)}${']'.repeat(60)}`, '1:55: found brackets 51 deep, but expected at most 50.'],
    [
      `x = "${'a'.repeat(1000)}"\n${'x = x + x\n'.repeat(10)}`,
      '8:5: found a value of 128000 characters or elements, but expected at most 65536.',
    ],
  ];
  for (const [text, message] of errors) {
    it(`refuses ${JSON.stringify(text.slice(0, 60))}`, () => {
      const read = readRuleFile(text, { path: 'test.rules', source: 'workspace' });
      assert.ok(!read.ok);
      const place = /^\d+:\d+/.exec(message)?.[0];
      assert.deepEqual(read.error, {
        source: 'workspace',
        place: `test.rules:${place}`,
        message: `test.rules:${message}`,
      });
    });
  }
});
