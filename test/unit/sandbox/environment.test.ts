import assert from 'node:assert/strict';
import type { ChildEnvironmentInput, EnvironmentPolicy } from '../../../src/sandbox/environment.ts';
import { childEnvironment, defaultEnvironmentPolicy } from '../../../src/sandbox/environment.ts';

const parent = {
  PATH: '/usr/bin',
  HOME: '/home/ann',
  LANG: 'de_DE.UTF-8',
  path_extra: 'x',
  EDITOR: 'vi',
  GITHUB_TOKEN: 't',
  MY_SECRET_SAUCE: 's',
  aws_access_key_id: 'k',
  LD_PRELOAD: '/evil.so',
  DYLD_INSERT_LIBRARIES: '/evil.dylib',
  NODE_OPTIONS: '--require /evil.js',
  BASH_ENV: '/evil.sh',
  SSH_AUTH_SOCK: '/run/agent',
  DISPLAY: ':0',
  VSCODE_IPC_HOOK_CLI: '/run/vscode.sock',
  nothing: undefined,
};

function run(
  policy: Partial<EnvironmentPolicy>,
  rest: Partial<Omit<ChildEnvironmentInput, 'policy'>> = {},
): Record<string, string> {
  return childEnvironment({
    policy: { ...defaultEnvironmentPolicy, ...policy },
    parent,
    isTty: false,
    isNetworkOff: true,
    ...rest,
  });
}

describe('childEnvironment()', () => {
  it('inherits core variables only by default', () => {
    const names = Object.keys(run({})).filter((name) => name in parent);
    assert.deepEqual(names.sort(), ['HOME', 'LANG', 'PATH']);
  });

  it('leads to the proxy of an allow-list, and to no other', () => {
    const machine = 'http://ann:secret@proxy.example';
    const inherited = {
      ...parent,
      HTTP_PROXY: machine,
      https_proxy: machine,
      GLOBAL_AGENT_HTTP_PROXY: machine,
    };
    const proxied = run({ inherit: 'all' }, { parent: inherited, isNetworkOff: false, isProxied: true });
    assert.equal(proxied['HTTPS_PROXY'], 'http://127.0.0.1:3128');
    assert.equal(proxied['https_proxy'], 'http://127.0.0.1:3128');
    assert.equal(proxied['CORDON_SANDBOX_NETWORK'], 'allow-list');
    assert.doesNotMatch(JSON.stringify(proxied), /secret@/);
    const open = run({ inherit: 'all' }, { parent: inherited, isNetworkOff: false });
    assert.equal(open['HTTP_PROXY'], machine);
    assert.ok(!('CORDON_SANDBOX_NETWORK' in open));
  });

  it('lets a person and a caller name another proxy', () => {
    const rest = { isNetworkOff: false, isProxied: true, request: { PIP_PROXY: 'c' } };
    const environment = run({ set: { HTTP_PROXY: 'p' } }, rest);
    assert.equal(environment['HTTP_PROXY'], 'p');
    assert.equal(environment['PIP_PROXY'], 'c');
  });

  it('compares core names without regard to case', () => {
    assert.equal(run({}, { parent: { Path: '/p' } })['Path'], '/p');
  });

  const table: readonly (readonly [
    string,
    Partial<EnvironmentPolicy>,
    readonly string[],
    readonly string[],
  ])[] = [
    ['inherit none', { inherit: 'none' }, [], ['PATH', 'HOME']],
    [
      'inherit all',
      { inherit: 'all' },
      ['EDITOR', 'path_extra'],
      ['GITHUB_TOKEN', 'MY_SECRET_SAUCE', 'aws_access_key_id'],
    ],
    [
      'secrets kept on request',
      { inherit: 'all', ignoreDefaultExcludes: true },
      ['GITHUB_TOKEN', 'MY_SECRET_SAUCE'],
      [],
    ],
    ['exclude by glob', { inherit: 'all', exclude: ['edi*'] }, ['path_extra'], ['EDITOR']],
    [
      'hazards',
      { inherit: 'all' },
      [],
      ['NODE_OPTIONS', 'BASH_ENV', 'SSH_AUTH_SOCK', 'DISPLAY', 'VSCODE_IPC_HOOK_CLI'],
    ],
    ['hazards that are set', { set: { NODE_OPTIONS: '-x', DISPLAY: ':1' } }, ['NODE_OPTIONS', 'DISPLAY'], []],
    [
      'loader',
      { inherit: 'all', set: { LD_LIBRARY_PATH: '/l' } },
      [],
      ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES'],
    ],
    ['set secrets', { set: { API_KEY: 'v' } }, ['API_KEY'], []],
    [
      'includeOnly filters set',
      { inherit: 'all', set: { A: '1', B: '2' }, includeOnly: ['a', 'PATH'] },
      ['A', 'PATH'],
      ['B', 'HOME'],
    ],
  ];
  for (const [what, policy, present, absent] of table) {
    it(`handles ${what}`, () => {
      const environment = run(policy);
      for (const name of present) assert.ok(name in environment, name);
      for (const name of absent) assert.ok(!(name in environment), name);
    });
  }

  it('never filters the request, except for the loader', () => {
    const environment = run(
      { includeOnly: ['PATH'] },
      { request: { MY_TOKEN: 't', LD_AUDIT: 'x', PAGER: 'less' } },
    );
    assert.equal(environment['MY_TOKEN'], 't');
    assert.equal(environment['PAGER'], 'less');
    assert.ok(!('LD_AUDIT' in environment));
  });

  it('keeps commands without a terminal from asking and colouring', () => {
    const { NO_COLOR, TERM, COLORTERM, GIT_EDITOR, GIT_TERMINAL_PROMPT, PAGER, GIT_PAGER, GH_PAGER } = run(
      {},
    );
    assert.deepEqual(
      { NO_COLOR, TERM, COLORTERM, GIT_EDITOR, GIT_TERMINAL_PROMPT, PAGER, GIT_PAGER, GH_PAGER },
      {
        NO_COLOR: '1',
        TERM: 'dumb',
        COLORTERM: '',
        GIT_EDITOR: 'true',
        GIT_TERMINAL_PROMPT: '0',
        PAGER: 'cat',
        GIT_PAGER: 'cat',
        GH_PAGER: 'cat',
      },
    );
  });

  it('leaves colours and the editor alone on a terminal', () => {
    const environment = run({}, { isTty: true });
    assert.equal(environment['TERM'], 'xterm-256color');
    for (const name of ['NO_COLOR', 'GIT_EDITOR', 'COLORTERM']) assert.ok(!(name in environment), name);
  });

  const locales: readonly (readonly [Record<string, string>, string | undefined])[] = [
    [{}, 'C.UTF-8'],
    [{ LANG: 'C' }, 'C.UTF-8'],
    [{ LANG: 'en_US.utf8' }, undefined],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, 'C.UTF-8'],
    [{ LANG: 'C', LC_ALL: 'de_DE.UTF-8' }, 'de_DE.UTF-8'],
  ];
  for (const [locale, expected] of locales) {
    it(`makes LC_ALL ${expected ?? 'absent'} of ${JSON.stringify(locale)}`, () => {
      assert.equal(run({}, { parent: locale })['LC_ALL'], expected);
    });
  }

  it('marks the sandbox and points TMPDIR into it', () => {
    const environment = run(
      { set: { TMPDIR: '/elsewhere' } },
      { marker: 'workspace-write', isTmpPrivate: true },
    );
    assert.equal(environment['CORDON_SANDBOX'], 'workspace-write');
    assert.equal(environment['CORDON_SANDBOX_NETWORK_DISABLED'], '1');
    assert.equal(environment['TMPDIR'], '/tmp');
    assert.ok(!('CORDON_SANDBOX_NETWORK_DISABLED' in run({}, { isNetworkOff: false })));
  });
});
