import assert from 'node:assert/strict';
import type { Access } from '../../../../src/sandbox/policy/fileRules.ts';
import { accessTo } from '../../../../src/sandbox/policy/fileRules.ts';
import type { PolicyInput } from '../../../../src/sandbox/policy/input.ts';
import { pretendMachine, problemOf, resolved } from '../../../harness/pretendMachine.ts';

type Files = Readonly<Record<string, string>>;

/** The access to each path under these settings. */
function answers(input: Partial<PolicyInput>, expected: Readonly<Record<string, Access>>): void {
  const policy = resolved(input);
  const given = Object.keys(expected).map((path) => [path, accessTo(policy, path)]);
  assert.deepEqual(Object.fromEntries(given), expected);
}

const machine = pretendMachine(
  [
    '/w/p/src/deep',
    '/home/ann/notes',
    '/home/bob/x',
    '/root',
    '/etc',
    '/usr/bin',
    '/tmp',
    '/var/tmp',
    '/data/real',
  ],
  { '/home/ann/link': '/data/real', '/w/p/link': '/data/real', '/bin': '/usr/bin' },
);
const user = (files: Files, more: object = {}): Partial<PolicyInput> => ({
  ...machine,
  user: { files, ...more },
});

describe('the rules for files', () => {
  it('take absolute paths, paths in the home folder and paths in the root', () => {
    answers(
      user({
        '/etc': 'none',
        '~/notes': 'write',
        './src': 'read',
        'src/deep': 'none',
        '~': 'read',
        'new/': 'none',
      }),
      {
        '/etc/passwd': 'none',
        '/home/ann/notes/a': 'write',
        '/home/ann/b': 'read',
        '/w/p/src/a': 'read',
        '/w/p/src/deep/a': 'none',
        '/w/p/other': 'write',
        '/w/p/new': 'none',
      },
    );
    answers(user({ '.': 'read' }), { '/w/p/src': 'read' });
  });

  describe('for the repository around the root', () => {
    const inside = (top: string): Partial<PolicyInput> => ({
      ...pretendMachine([`${top}/.git`, '/home/ann/mono/app/src', '/home/bob', '/srv/mono/app']),
      root: '/home/ann/mono/app',
    });

    it('open it read-only, except for what patterns hide', () => {
      answers(inside('/home/ann/mono'), {
        '/home/ann/mono/.git/HEAD': 'read',
        '/home/ann/mono/other': 'read',
        '/home/ann/mono/other/.env': 'none',
        '/home/ann/mono/app/.env': 'none',
        '/home/ann/mono/app/file': 'write',
        '/home/ann/notes': 'none',
      });
    });

    it('lift and add patterns in both', () => {
      answers(
        { ...inside('/home/ann/mono'), user: { files: { '**/.env': 'read', '**/x': 'none', y: 'none' } } },
        {
          '/home/ann/mono/.env': 'read',
          '/home/ann/mono/app/.env': 'write',
          '/home/ann/mono/x': 'none',
          '/home/ann/mono/app/x': 'none',
          '/home/ann/mono/y': 'read',
          '/home/ann/mono/app/y': 'none',
        },
      );
    });

    it('leave it hidden when somebody says so, and when it is a home', () => {
      const closed = { user: { files: { ':repository': 'none' } } };
      answers({ ...inside('/home/ann/mono'), ...closed }, { '/home/ann/mono/other': 'none' });
      answers(inside('/home/ann'), { '/home/ann/mono/other': 'none' });
      answers(inside('/home'), { '/home/bob/x': 'none' });
    });

    it('add nothing outside of homes, which is readable anyway', () => {
      const files = resolved({ ...inside('/srv/mono'), root: '/srv/mono/app' }).files;
      assert.equal(
        files.some(({ path }) => path === '/srv/mono'),
        false,
      );
    });
  });

  it('honour overlapping rules exactly, whatever their order', () => {
    const rules = { src: 'none', 'src/deep': 'write', '.': 'read' } as const;
    for (const entries of [Object.entries(rules), Object.entries(rules).toReversed()]) {
      answers(user(Object.fromEntries(entries)), {
        '/w/p/a': 'read',
        '/w/p/src/a': 'none',
        '/w/p/src/deep/a': 'write',
      });
    }
  });

  it('take places, with a path below them where they have an inside', () => {
    answers(
      user({
        ':root': 'none',
        ':minimal': 'read',
        ':tmp/x': 'read',
        ':workspace/src': 'read',
        ':home/notes': 'write',
      }),
      {
        '/opt': 'none',
        '/usr/lib': 'read',
        '/etc/hosts': 'read',
        '/tmp/x': 'read',
        '/var/tmp/x': 'read',
        '/tmp/y': 'none',
        '/w/p/src/a': 'read',
        '/w/p/a': 'write',
        '/home/ann/notes/a': 'write',
        '/home/ann/a': 'none',
      },
    );
    answers(user({ ':home': 'none' }), {
      '/home/ann/a': 'none',
      '/home/bob/x': 'none',
      '/root/x': 'none',
      '/etc/x': 'read',
    });
  });

  it('do not hide a home folder that is the root, or has it below', () => {
    answers(
      { ...user({ ':home': 'none' }), root: '/home/ann' },
      { '/home/ann/a': 'write', '/home/bob/x': 'none' },
    );
    answers({ ...user({ ':home': 'none' }), root: '/home' }, { '/home/ann/a': 'write', '/root/x': 'none' });
    answers(
      { ...user({ ':home': 'none' }), root: '/home/ann/notes' },
      {
        '/home/ann/notes/a': 'write',
        '/home/ann/a': 'none',
      },
    );
  });

  it('do not take a folder of the system for a home', () => {
    for (const homeDir of ['/', '/usr/share', '/var', '/tmp', '/nonexistent']) {
      const files = resolved({ ...user({ ':home': 'none' }), homeDir }).files.filter(
        ({ access }) => access === 'none',
      );
      assert.deepEqual(
        files.map(({ path }) => path),
        ['/home', '/root'],
        homeDir,
      );
    }
  });

  it('hide what matches a glob, below the root or wherever it says', () => {
    answers(
      user({
        '**/.env': 'none',
        'src/*.key': 'none',
        '~/{a,b}': 'none',
        '/etc/*.secret': 'none',
        'src/deep/.env': 'read',
      }),
      {
        '/w/p/.env': 'none',
        '/w/p/a/b/.env/c': 'none',
        '/w/p/src/deep/.env': 'read',
        '/w/p/node_modules/x/.env': 'write',
        '/w/p/src/a.key': 'none',
        '/w/p/src/deep/a.key': 'write',
        '/home/ann/a/x': 'none',
        '/home/ann/c': 'none',
        '/etc/x.secret': 'none',
      },
    );
  });

  it('follow links: the rule is for what they lead to', () => {
    answers(user({ '~/link': 'none', '/bin': 'none' }), { '/data/real/a': 'none', '/usr/bin/x': 'none' });
    answers(user({ '~/link/new/a': 'none' }), { '/data/real/new/a': 'none', '/data/real/new/b': 'read' });
    answers(user({ 'link/*.key': 'none' }), { '/data/real/x.key': 'none' });
  });

  it('keep rules that hide what does not exist, and drop those that open it', () => {
    answers(user({ '~/gone': 'none', '/gone': 'write', '/data/gone': 'read', '~/.ssh/x': 'none' }), {
      '/home/ann/gone/a': 'none',
      '/gone/a': 'read',
    });
    const rules = resolved(user({ '/gone': 'write', '/data/gone': 'read' })).files;
    const own = rules.filter(({ source }) => source === 'user').map(({ path }) => path);
    assert.deepEqual(own, ['/data/gone']);
  });

  it('let the stronger owner decide at a path, and of one owner none before write before read', () => {
    const input = {
      ...user({ '/etc': 'none', '~/notes': 'read' }, { writableRoots: ['/etc', '~/notes'] }),
      profiles: { p: { files: { '/usr': 'none' } } },
      profile: 'p',
    };
    answers(input, { '/etc/a': 'none', '/home/ann/notes/a': 'write', '/usr/a': 'none' });
    answers(
      { ...input, grant: { files: { '/etc': 'read', '/usr': 'read' } } },
      { '/etc/a': 'read', '/usr/a': 'read' },
    );
  });

  it('carry their owner and how they were written', () => {
    const { files, hidden, sources } = resolved({
      ...user({ '~/notes': 'write' }),
      workspace: { files: { 'src/': 'read', '*.key': 'none' } },
    });
    const added = files.filter(({ source }) => source !== 'default');
    assert.deepEqual(added, [
      { path: '/home/ann/notes', access: 'write', source: 'user', writtenAs: '~/notes' },
      { path: '/w/p/src', access: 'read', source: 'workspace', writtenAs: 'src/' },
    ]);
    assert.deepEqual(hidden.at(-1), { folder: '/w/p', glob: '*.key', source: 'workspace' });
    assert.equal(sources.files, 'workspace');
    assert.equal(resolved(user({ '~/notes': 'write' })).sources.files, 'user');
    assert.equal(resolved({ workspace: { files: { '~/notes': 'write' } } }).sources.files, 'default');
  });

  it('lift a glob of a weaker owner, by its very text only', () => {
    const input = user({ '**/.env': 'none', '**/x': 'none' });
    answers(
      { ...input, grant: { files: { '**/.env': 'read' } } },
      { '/w/p/.env': 'write', '/w/p/x': 'none' },
    );
    assert.match(
      problemOf({ ...input, grant: { files: { '*/.env': 'read' } } }).message,
      /globs can only hide/,
    );
  });

  it('can only be narrowed by the administrator and the workspace', () => {
    const own = user({ '~/notes': 'write', src: 'read', 'src/deep': 'none' });
    const wider = {
      '/etc': 'write',
      '~/notes': 'write',
      'src/deep': 'write',
      src: 'write',
      ':root': 'write',
    };
    assert.deepEqual(resolved({ ...own, workspace: { files: wider } }), resolved(own));
    assert.deepEqual(resolved({ ...own, managed: { files: wider } }), resolved(own));
    answers(
      { ...own, workspace: { files: { ':home': 'none', src: 'none' } }, managed: { files: { '.': 'read' } } },
      {
        '/home/ann/notes': 'none',
        '/w/p/a': 'read',
        '/w/p/src/a': 'none',
      },
    );
  });

  it('write nothing in read-only mode and in an untrusted workspace', () => {
    for (const input of [{ user: { mode: 'read-only', writableRoots: ['/etc'] } }, { isTrusted: false }]) {
      const { files } = resolved(input);
      assert.ok(files.length > 1 && files.every(({ access }) => access !== 'write'));
    }
  });

  const wrong: readonly (readonly [string, string, RegExp])[] = [
    [':house', 'read', /":house" in the user settings.*:workspace, :home/],
    [':toolchains/node', 'read', /":toolchains" alone/],
    [':home/../x', 'none', /leads out of it/],
    ['../x', 'none', /leads out of the root/],
    ['src/../../x', 'none', /leads out of the root/],
    ['~bob/x', 'none', /your own home folder/],
    ['', 'none', /"\." stands for the root/],
    ['a\0b', 'none', /zero byte/],
    ['**/{a', 'none', /a valid glob \(Missing closing/],
    ['*/../x', 'none', /without "\.\." behind/],
    ['**/*.js', 'write', /"write" in the user settings.*globs can only hide/],
    ['**/*.js', 'read', /globs can only hide/],
  ];
  for (const [key, access, message] of wrong) {
    it(`refuse ${JSON.stringify(key)}: ${access}`, () => {
      const problem = problemOf({ user: { files: { [key]: access } } });
      assert.match(problem.field, /^cordon\.sandbox\.files/);
      assert.match(problem.message, message);
      assert.match(problem.hint, /^Correct cordon\.sandbox\.files/);
      assert.equal(problem.source, 'user');
    });
  }

  it('refuse an unknown access', () => {
    const { field, message } = problemOf({ user: { files: { '/etc': 'deny' } } });
    assert.equal(field, 'cordon.sandbox.files./etc');
    assert.match(message, /"deny".*one of "none", "read", "write"/);
  });
});

describe('toolchains and secrets', () => {
  const home = '/home/ann';
  const full = {
    ...pretendMachine(
      [
        ...[
          '.nvm/versions',
          '.cargo/bin',
          '.cargo/credentials.toml',
          '.ssh/id_ed25519',
          '.gitconfig',
          '.kube/config',
        ],
        ...['.tool/bin', 'work/bin', '.local/bin', '.local/state', '.config/gh/hosts.yml', '.config/app'],
        ...['.bash_history', '.zcompdump-host', '.aws'],
      ].map((name) => `${home}/${name}`),
      { [`${home}/.docker`]: '/data/docker' },
    ),
    searchPath: `/usr/bin:${home}/.tool/bin:${home}/work/bin/:${home}/.local/bin:relative::${home}/gone/bin`,
  };
  const hiddenHome = { ':home': 'none', ':toolchains': 'read', ':secrets': 'none' } as const;

  it('open the programs of a hidden home, those on the search path too, and no credentials', () => {
    answers(
      { ...full, user: { files: hiddenHome } },
      {
        [`${home}/.nvm/versions/x`]: 'read',
        [`${home}/.cargo/bin/cargo`]: 'read',
        [`${home}/.cargo/credentials.toml`]: 'none',
        [`${home}/.gitconfig`]: 'read',
        [`${home}/.tool/lib/x`]: 'read',
        [`${home}/work/bin/x`]: 'read',
        [`${home}/work/other`]: 'none',
        [`${home}/.local/bin/x`]: 'read',
        [`${home}/.local/state`]: 'none',
        [`${home}/.ssh/id_ed25519`]: 'none',
      },
    );
  });

  it('stay closed where the home folder is open', () => {
    answers(
      { ...full, root: home, user: { files: hiddenHome } },
      {
        [`${home}/work/x`]: 'write',
        [`${home}/.ssh/id_ed25519`]: 'none',
        [`${home}/.kube/config`]: 'none',
        [`${home}/.bash_history`]: 'none',
        [`${home}/.zcompdump-host`]: 'none',
        [`${home}/.config/gh/hosts.yml`]: 'none',
        [`${home}/.config/app/x`]: 'write',
        '/data/docker/config.json': 'none',
      },
    );
  });

  it('name secrets that do not exist only in folders that a person opened', () => {
    const rules = (files: Files): readonly string[] =>
      resolved({ ...full, user: { files: { ...hiddenHome, ...files } } }).files.map(({ path }) => path);
    assert.ok(!rules({}).includes(`${home}/.config/hub`));
    assert.ok(rules({ '~/.config': 'read' }).includes(`${home}/.config/hub`));
    assert.ok(!rules({ '~/.config': 'read', ':secrets': 'read' }).includes(`${home}/.config/hub`));
    assert.ok(!rules({ '~/.config': 'none' }).includes(`${home}/.config/hub`));
  });

  it('can be opened one by one', () => {
    const grant = { files: { '~/.ssh': 'read', '~/.aws/config': 'none' } };
    answers(
      { ...full, user: { files: hiddenHome }, grant },
      { [`${home}/.ssh/id_ed25519`]: 'read', [`${home}/.aws`]: 'none' },
    );
  });

  it('do not hide the root that is such a folder', () => {
    answers(
      { ...full, root: `${home}/.kube`, user: { files: hiddenHome } },
      {
        [`${home}/.kube/config`]: 'write',
        [`${home}/.aws`]: 'none',
      },
    );
  });
});
