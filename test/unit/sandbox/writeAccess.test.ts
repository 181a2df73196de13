import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import type { WriteRefusal } from '../../../src/sandbox/writeAccess.ts';
import { writeAccess } from '../../../src/sandbox/writeAccess.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { policyOf } from '../../harness/policyOf.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

type Answer = 'allowed' | WriteRefusal['reason'];
type Questions = Readonly<Record<string, Answer>>;

describe('writeAccess()', () => {
  let folder: TemporaryFolder;
  let root: string;
  beforeEach(async () => {
    folder = await createTemporaryFolder('access');
    root = join(folder.path, 'root');
    mkdirSync(root);
  });
  afterEach(() => folder.dispose());

  const policy = (changes: Parameters<typeof policyOf>[1] = {}): SandboxPolicy => policyOf(root, changes);
  /** Paths are relative to the root unless they are absolute. */
  const answers = (
    to: SandboxPolicy,
    questions: Questions,
    temporaryFolders: readonly string[] = [],
  ): void => {
    const access = writeAccess(to, temporaryFolders);
    const given = Object.keys(questions).map((name) => {
      const path = name.startsWith('/') ? name : join(root, name);
      return [name, access(path)?.reason ?? 'allowed'];
    });
    assert.deepEqual(Object.fromEntries(given), questions);
  };
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: root, stdio: 'pipe' });

  it('allows the root, but not what tools and editors run at its top, whether it exists or not', () => {
    answers(policy(), {
      file: 'allowed',
      'src/deep/file': 'allowed',
      '.gitignore': 'allowed',
      '.github/workflows/x.yml': 'allowed',
      'vendor/.git/hooks/x': 'protected',
      '.git': 'protected',
      '.git/hooks/x': 'protected',
      '.vscode/settings.json': 'protected',
      '.codex/config.toml': 'protected',
      '.agents/x': 'protected',
      '.cordon/x': 'protected',
      '../file': 'outside',
      '../root2/file': 'outside',
      '/etc/passwd': 'outside',
    });
  });

  it('is not fooled by other spellings of a name', () => {
    answers(policy(), {
      '.GIT/hooks/x': 'protected',
      '.Git/hooks/x': 'protected',
      '.VSCode/settings.json': 'protected',
      '.vſcode/settings.json': 'protected',
      '.g\u200cit/hooks/x': 'protected',
      '.\ufeffvscode/settings.json': 'protected',
      '.gitt/hooks/x': 'allowed',
    });
  });

  it('allows everything in full access', () => {
    answers(policy({ mode: 'danger-full-access' }), { '.git/hooks/x': 'allowed', '/etc/passwd': 'allowed' });
  });

  it('allows nothing in read-only mode, and says when trust is what is missing', () => {
    answers(policy({ mode: 'read-only' }), { file: 'read-only', '/etc/passwd': 'read-only' });
    const untrusted = policy({ mode: 'read-only', sources: { ...policy().sources, mode: 'untrusted' } });
    answers(untrusted, { file: 'untrusted', '.git/x': 'untrusted' });
  });

  it('allows temporary folders only when they are shared', () => {
    const [tmp, questions] = [join(folder.path, 'tmp'), (answer: Answer) => ({ '../tmp/x': answer })];
    answers(policy({ tmp: 'shared' }), questions('allowed'), [tmp]);
    answers(policy(), questions('outside'), [tmp]);
    answers(policy(), { file: 'allowed', '../x': 'outside', '.git/x': 'protected' }, [folder.path]);
    answers(policy({ tmp: 'shared' }), { '.git/x': 'protected' }, [folder.path]);
  });

  it('protects the top of every root, and of a root inside another', () => {
    const inner = join(root, 'inner');
    answers(policy({ writableRoots: [root, inner, join(folder.path, 'second')] }), {
      'inner/file': 'allowed',
      'inner/.git/x': 'protected',
      'other/.git/x': 'protected',
      '../second/file': 'allowed',
      '../second/.vscode/x': 'protected',
    });
  });

  it('opens a protected folder that is a root itself, in any case, or has a root in it', () => {
    answers(policy({ writableRoots: [root, join(root, '.vscode'), join(root, '.agents/notes')] }), {
      '.vscode/settings.json': 'allowed',
      '.agents/notes/x': 'allowed',
      '.agents/x': 'protected',
      '.cordon/x': 'protected',
    });
    answers(policy({ writableRoots: [root, join(root, '.VSCODE')] }), { '.VSCODE/x': 'allowed' });
  });

  it('allows commits, but no hooks and settings, in a .git that is a root', () => {
    git('init', '-q');
    const questions: Questions = {
      '.git/HEAD': 'allowed',
      '.git/objects/aa/x': 'allowed',
      '.git/hooks/pre-commit': 'protected',
      '.git/HOOKS/pre-commit': 'protected',
      '.git/config': 'protected',
      '.git/config.worktree': 'protected',
      '.git/info/attributes': 'protected',
      '.git/modules/x/hooks/y': 'protected',
      '.git/commondir': 'protected',
      file: 'allowed',
    };
    answers(policy({ writableRoots: [root, join(root, '.git')] }), questions);
    const alone = policy({ root: join(root, '.git'), writableRoots: [join(root, '.git')] });
    answers(alone, { ...questions, file: 'outside' });
  });

  it('protects what a link in the place of a protected name leads to, existing or not', () => {
    mkdirSync(join(root, 'settings'));
    symlinkSync('settings', join(root, '.vscode'));
    symlinkSync('later/repository', join(root, '.git'));
    symlinkSync('second', join(root, '.codex'));
    symlinkSync('third', join(root, 'second'));
    symlinkSync('.agents', join(root, '.agents'));
    answers(policy(), {
      '.vscode': 'protected',
      'settings/settings.json': 'protected',
      'later/repository/hooks/x': 'protected',
      'later/file': 'allowed',
      'third/x': 'protected',
      '.agents/x': 'protected',
    });
  });

  it('protects the repository behind a pointer file, also one that a link leads to', () => {
    git('init', '-q', '--separate-git-dir', 'repository');
    const questions: Questions = { '.git': 'protected', 'repository/hooks/x': 'protected', file: 'allowed' };
    answers(policy(), questions);
    execFileSync('mv', ['.git', 'pointer'], { cwd: root });
    symlinkSync('pointer', join(root, '.git'));
    answers(policy(), { ...questions, pointer: 'protected' });
  });

  it('does not lock the root whose pointer file leads to the root itself or above', () => {
    for (const target of ['.', '..', '/']) {
      writeFileSync(join(root, '.git'), `gitdir: ${target}\n`);
      answers(policy(), { file: 'allowed', '.git': 'protected' });
    }
  });

  it('keeps the state of the machine closed, whatever the roots are', () => {
    answers(
      policy({ writableRoots: ['/', '/proc', '/run', '/run/user/1'] }),
      {
        '/srv/file': 'allowed',
        '/proc/sys/kernel/core_pattern': 'outside',
        '/sys/kernel/x': 'outside',
        '/dev/sda': 'outside',
        '/run/docker.sock': 'outside',
        '/run/user/1/file': 'allowed',
        '/tmp/x': 'outside',
        '/.git/hooks/x': 'protected',
      },
      ['/tmp'],
    );
  });

  it('keeps what later runs trust closed inside a root, but not a root inside of it', () => {
    const trusted = [join(root, 'extension')];
    const access = writeAccess(policy(), [], trusted);
    assert.equal(access(join(root, 'extension/dist/launch'))?.reason, 'protected');
    assert.equal(access(join(root, 'extension2')), undefined);
    const opened = writeAccess(policy({ writableRoots: [root, join(root, 'extension/test')] }), [], trusted);
    assert.equal(opened(join(root, 'extension/test/x')), undefined);
  });

  it('follows the rules for single paths, the deepest first', () => {
    const rules = policy({
      files: [
        ...policy().files,
        { path: join(root, 'docs'), access: 'read', source: 'user', writtenAs: './docs' },
        { path: join(root, 'docs/drafts'), access: 'write', source: 'user' },
        { path: join(root, 'private'), access: 'none', source: 'managed' },
        { path: join(root, 'private/shared'), access: 'write', source: 'user' },
      ],
      hidden: [{ folder: root, glob: '**/.env', source: 'default' }],
    });
    answers(rules, {
      file: 'allowed',
      'docs/a': 'outside',
      'docs/drafts/a': 'allowed',
      private: 'hidden',
      'private/a': 'hidden',
      'private/shared/a': 'allowed',
      'private/shared/.env': 'hidden',
      'deep/.env': 'hidden',
      'docs/drafts/.env/x': 'hidden',
      '.env2': 'allowed',
    });
    const access = writeAccess(rules);
    assert.deepEqual(access(join(root, 'docs/a')), {
      path: join(root, 'docs/a'),
      reason: 'outside',
      clause: 'files',
      message: `${root}/docs/a may not be written: it is read-only by the rule "./docs" of the user settings.`,
      hint: 'Leave it alone, or ask the person to change that rule.',
    });
    assert.match(access(join(root, '.env'))?.message ?? '', /"\*\*\/\.env" of Cordon's defaults/);
    assert.match(access(join(root, 'private'))?.hint ?? '', /Only the machine's administrator/);
  });

  it('lets a rule close a part of the shared temporary folder', () => {
    const tmp = join(folder.path, 'tmp');
    const closed = [...policy().files, { path: join(tmp, 'a'), access: 'read', source: 'user' } as const];
    answers(policy({ tmp: 'shared', files: closed }), { '../tmp/a/x': 'outside', '../tmp/b': 'allowed' }, [
      tmp,
    ]);
  });

  it('names the path, the folders that are open, and what to do', () => {
    const access = writeAccess(policy());
    assert.deepEqual(access('/etc/passwd'), {
      path: '/etc/passwd',
      reason: 'outside',
      clause: 'writableRoots',
      message: `/etc/passwd may not be written: it lies outside the folders that the sandbox of ${root} lets commands write (${root}).`,
      hint: 'Write inside these folders, or ask the person to add one to cordon.sandbox.writableRoots.',
    });
    assert.match(access(join(root, '.GIT/x'))?.message ?? '', new RegExp(`: ${root}/\\.git is protected`));
  });
});
