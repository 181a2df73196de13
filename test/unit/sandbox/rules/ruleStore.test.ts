import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatPattern } from '../../../../src/sandbox/rules/rule.ts';
import type { RuleInput } from '../../../../src/sandbox/rules/ruleStore.ts';
import { RuleStore } from '../../../../src/sandbox/rules/ruleStore.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

describe('RuleStore', () => {
  let folder: TemporaryFolder;
  let root: string;
  let home: string;
  let managed: string;
  let store: RuleStore;

  beforeEach(async () => {
    folder = await createTemporaryFolder('rules');
    [root, home, managed] = ['root', 'home', 'managed'].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [home, join(root, '.cordon', 'rules'), join(root, '.codex', 'rules')]) {
      mkdirSync(path, { recursive: true });
    }
    store = new RuleStore(managed, 'linux');
  });
  afterEach(() => folder.dispose());

  function read(input: Partial<RuleInput> = {}) {
    const { prefixes, problems } = store.rulesOf({
      ...{ root, homeDir: home, files: undefined, user: undefined, workspace: undefined },
      isWritable: (path) => path.startsWith(root),
      ...input,
    });
    return {
      rules: prefixes.map((rule) => `${rule.decision} ${formatPattern(rule.pattern)}, ${rule.origin.source}`),
      problems: problems.map(({ message }) => message.replaceAll(folder.path, '')),
    };
  }

  it('puts together what settings and files say', () => {
    writeFileSync(join(home, 'my.rules'), 'prefix_rule(["a"])');
    writeFileSync(
      join(root, '.cordon', 'rules', 'b.rules'),
      'prefix_rule(["b"], "prompt")\nprefix_rule(["no"])',
    );
    writeFileSync(join(root, '.codex', 'rules', 'c.rules'), 'prefix_rule(["c"], "forbidden")');
    writeFileSync(join(root, '.codex', 'rules', 'c.txt'), 'nothing');
    const found = read({
      files: ['~/my.rules'],
      user: [{ pattern: ['d'], decision: 'allow' }],
      workspace: [
        { pattern: ['e'], decision: 'prompt' },
        { pattern: ['no'], decision: 'allow' },
      ],
    });
    assert.deepEqual(found, {
      rules: [
        'allow a, user',
        'allow d, user',
        'prompt b, workspace',
        'forbidden c, workspace',
        'prompt e, workspace',
      ],
      problems: [],
    });
  });

  it('has no rules where there are none', () => {
    rmSync(join(root, '.codex'), { recursive: true });
    rmSync(join(root, '.cordon'), { recursive: true });
    writeFileSync(join(root, '.cordon'), 'a file');
    assert.deepEqual(read(), { rules: [], problems: [] });
  });

  it('sees what changes: files, what they say, settings', () => {
    const path = join(root, '.cordon', 'rules', 'a.rules');
    assert.deepEqual(read().rules, []);
    writeFileSync(path, 'prefix_rule(["a"], "prompt")');
    assert.deepEqual(read().rules, ['prompt a, workspace']);
    writeFileSync(path, 'prefix_rule(["b"], "prompt")');
    assert.deepEqual(read().rules, ['prompt b, workspace']);
    renameSync(path, join(root, '.cordon', 'rules', 'b.rules'));
    assert.deepEqual(read().rules, ['prompt b, workspace']);
    rmSync(join(root, '.cordon', 'rules', 'b.rules'));
    assert.deepEqual(read().rules, []);
    assert.deepEqual(read({ user: [{ pattern: ['d'], decision: 'prompt' }] }).rules, ['prompt d, user']);
  });

  it('names what is wrong with files and settings, and takes none of theirs', () => {
    writeFileSync(join(home, 'bad.rules'), 'prefix_rule(["a"], "prompt")\nprefix_rule([])');
    writeFileSync(join(root, '.cordon', 'rules', 'a.rules'), Buffer.from([0x78, 0xff]));
    const found = read({ files: ['~/bad.rules', '/missing.rules', 'my.rules'], user: 3, workspace: [{}] });
    assert.deepEqual(found.rules, []);
    assert.deepEqual(found.problems, [
      '/home/bad.rules:2:13: found a pattern without words, but expected at least one.',
      "/missing.rules does not count: it cannot be read: ENOENT: no such file or directory, lstat '/missing.rules'.",
      'my.rules does not count: its path is neither absolute nor begins with ~/.',
      'cordon.rules.commands is 3 in the user settings, but must be a list.',
      '/root/.cordon/rules/a.rules does not count: it cannot be read: The encoded data was not valid for encoding utf-8.',
      'cordon.rules.commands[0].pattern is absent in the settings of the workspace, but must be a list.',
    ]);
    assert.deepEqual(
      read({ files: 'x' }).problems[0],
      'cordon.rules.files is "x" in the user settings, but must be a list of paths.',
    );
  });

  it('takes no file of the user that commands could write', () => {
    writeFileSync(join(root, 'own.rules'), 'prefix_rule(["a"])');
    symlinkSync(join(root, 'own.rules'), join(home, 'link.rules'));
    const { rules, problems } = read({ files: [join(root, 'own.rules'), '~/link.rules'] });
    assert.deepEqual(rules, []);
    assert.deepEqual(problems, [
      '/root/own.rules does not count: commands may write it, and so could allow themselves anything.',
      '/home/link.rules does not count: commands may write it, and so could allow themselves anything.',
    ]);
    assert.deepEqual(read({ files: ['~/link.rules'], isWritable: () => false }).rules, ['allow a, user']);
  });

  it('follows links of a workspace only within it, and reads only small files', () => {
    const rules = join(root, '.cordon', 'rules');
    writeFileSync(join(home, 'secret'), 'a secret');
    writeFileSync(join(root, 'mine'), 'prefix_rule(["a"], "prompt")');
    symlinkSync(join(home, 'secret'), join(rules, 'out.rules'));
    symlinkSync(join(root, 'mine'), join(rules, 'within.rules'));
    symlinkSync(join(root, 'nowhere'), join(rules, 'gone.rules'));
    execFileSync('mkfifo', [join(rules, 'pipe.rules')]);
    mkdirSync(join(rules, 'folder.rules'));
    writeFileSync(join(rules, 'large.rules'), '#'.repeat(300_000));
    const found = read();
    assert.deepEqual(found.rules, ['prompt a, workspace']);
    const gone = '/root/.cordon/rules';
    assert.deepEqual(found.problems, [
      `${gone}/folder.rules does not count: it cannot be read: it is not a file of at most 262144 bytes.`,
      `${gone}/gone.rules does not count: it cannot be read: ENOENT: no such file or directory, stat '/root/.cordon/rules/gone.rules'.`,
      `${gone}/large.rules does not count: it cannot be read: it is not a file of at most 262144 bytes.`,
      `${gone}/out.rules does not count: it leads out of the workspace, to /home/secret.`,
      `${gone}/pipe.rules does not count: it cannot be read: it is not a file of at most 262144 bytes.`,
    ]);
    symlinkSync(home, join(folder.path, 'elsewhere'));
    rmSync(rules, { recursive: true });
    writeFileSync(join(home, 'x.rules'), 'a secret');
    symlinkSync(home, rules);
    assert.deepEqual(read().problems, [
      `${gone}/x.rules does not count: it leads out of the workspace, to /home/x.rules.`,
    ]);
  });

  it('reads no more than 50 files of a workspace', () => {
    for (let index = 0; index < 51; index += 1) {
      writeFileSync(join(root, '.cordon', 'rules', `${index}.rules`), 'prefix_rule(["a"], "prompt")');
    }
    assert.deepEqual(read(), {
      rules: [],
      problems: ['/root/.cordon/rules does not count: it has 51 files with rules, but at most 50 are read.'],
    });
  });

  it('takes files of the administrator only if nobody else may write them', function () {
    if (process.getuid?.() !== 0) {
      this.skip();
    }
    mkdirSync(managed);
    writeFileSync(join(managed, 'a.rules'), 'prefix_rule(["a"])');
    assert.deepEqual(read(), { rules: ['allow a, managed'], problems: [] });
    chmodSync(join(managed, 'a.rules'), 0o666);
    const { rules, problems } = read();
    assert.deepEqual(rules, []);
    assert.match(problems[0] ?? '', /a\.rules does not count: .* can be written by others than root/);
  });
});
