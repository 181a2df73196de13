import assert from 'node:assert/strict';
import type { Denial } from '../../../src/sandbox/denials/denial.ts';
import type { DenialContext } from '../../../src/sandbox/describeDenial.ts';
import { describeDenials } from '../../../src/sandbox/describeDenial.ts';
import type { Person } from '../../../src/sandbox/denials/person.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import { allFrom, policyOf } from '../../harness/policyOf.ts';

const policy = policyOf('/w/p');
const missing: readonly string[] = ['/home/ann/gone'];

/** May everything but what lies in a folder of root; `*.sock` is a socket. */
const person: Person = {
  may: (_, path) => !path.startsWith('/root/'),
  needsCapability: (path) => path.endsWith('.foreign'),
  isSocket: (path) => path.endsWith('.sock'),
};

function describeEach(output: string, changes: Partial<DenialContext> = {}): readonly Denial[] {
  return describeDenials({
    output,
    policy,
    exitCode: 1,
    cwd: '/w/p',
    canonicalize: (path) => (missing.includes(path) ? undefined : path.replace('/link', '/target')),
    person,
    ...changes,
  });
}

function describeAll(output: string, changes: Partial<DenialContext> = {}): Denial | undefined {
  return describeEach(output, changes)[0];
}

function expectDenial(output: string, changes: Partial<DenialContext> = {}): Denial {
  const denial = describeAll(output, changes);
  assert.ok(denial !== undefined);
  return denial;
}

describe('describeDenials()', () => {
  const paths: readonly (readonly [string, string])[] = [
    [`touch: cannot touch '/opt/x': Read-only file system`, '/opt/x'],
    ['touch: cannot touch ‘/opt/a b’: Read-only file system', '/opt/a b'],
    ['/bin/sh: 1: cannot create /opt/denied: Read-only file system', '/opt/denied'],
    ['bash: line 1: /etc/x: Read-only file system', '/etc/x'],
    [`Error: EROFS: read-only file system, open '/var/x.log'`, '/var/x.log'],
    [`OSError: [Errno 30] Read-only file system: '/opt/y'`, '/opt/y'],
    ['touch: ../y: Read-only file system', '/w/y'],
    [
      'noise\nbash: /first: Permission denied\nrm: cannot remove "/last/one": Read-only file system\nmore',
      '/last/one',
    ],
  ];
  for (const [output, path] of paths) {
    it(`finds ${path} in ${JSON.stringify(output)}`, () => {
      const denial = expectDenial(output);
      assert.deepEqual(
        [denial.path, denial.access, denial.certainty, denial.clause],
        [path, 'write', 'known', 'writableRoots'],
      );
      assert.match(denial.message, /^The sandbox stopped the write to .*writes are limited to \/w\/p/);
      assert.match(denial.hint, /cordon\.sandbox\.writableRoots/);
    });
  }

  it('says "likely" for a permission that may have other reasons', () => {
    const denial = expectDenial('cat: /etc/shadow: Permission denied');
    assert.equal(denial.certainty, 'likely');
    assert.match(denial.message, /likely/);
  });

  it('says that it does not know', () => {
    for (const output of ['kill: (7) - Operation not permitted', 'Permission denied (publickey).']) {
      const denial = expectDenial(output);
      assert.deepEqual([denial.clause, denial.certainty], [undefined, 'likely']);
      assert.match(denial.message, /does not tell what/);
    }
    assert.match(expectDenial('', { exitCode: 159 }).message, /does not tell what/);
  });

  const own: readonly (readonly [string, string])[] = [
    ['a word', 'the sandbox of the tests failed: seccomp, landlock'],
    ['a file of the root without the right to run it', 'bash: ./tool.sh: Permission denied'],
    ['a file of the root that is not theirs', 'mv: cannot move ‘/w/p/a’: Operation not permitted'],
    ['a path that nobody could write', "touch: cannot touch '/root/x': Read-only file system"],
    ['a path that nobody could enter', 'ls: cannot open directory /root/y: Permission denied'],
    ['a file that is missing', 'cat: x: No such file or directory'],
  ];
  for (const [what, output] of own) {
    it(`does not blame the sandbox for ${what}`, () => {
      assert.deepEqual(describeEach(output), []);
    });
  }

  it('says that a command of root may miss its capabilities', () => {
    const denial = expectDenial('cat: /w/p/a.foreign: Permission denied');
    assert.deepEqual([denial.certainty, denial.path], ['likely', '/w/p/a.foreign']);
    assert.match(denial.message, /root has no more rights/);
  });

  it('does not say where a name without its folder was', () => {
    const denial = expectDenial(`touch: cannot touch 'x': Read-only file system`);
    assert.deepEqual([denial.certainty, denial.path], ['likely', undefined]);
  });

  it('names the socket that a command did not reach', () => {
    const outputs = [
      'dial unix /run/docker.sock: connect: no such file or directory',
      'error at unix:///run/docker.sock: permission denied',
    ];
    for (const output of outputs) {
      const denial = expectDenial(output);
      assert.deepEqual(
        [denial.certainty, denial.clause, denial.socket],
        ['known', 'sockets', '/run/docker.sock'],
      );
      const opened = { ...policy, sockets: ['/run/docker.sock'] };
      assert.equal(describeAll(output, { policy: opened }), undefined);
    }
  });

  it('lists every denial once, known ones first, and not more than 20', () => {
    const denials = describeEach(
      [
        'cat: /etc/a: Permission denied',
        'sh: cannot create /opt/a: Read-only file system',
        'sh: cannot create /opt/b: Read-only file system',
        'sh: cannot create /opt/a: Read-only file system',
        'Permission denied',
      ].join('\n'),
      { deniedCalls: [{ call: 'mount', detail: 0 }] },
    );
    assert.deepEqual(
      denials.map(({ certainty, path, call }) => [certainty, path ?? call]),
      [
        ['known', '/opt/a'],
        ['known', '/opt/b'],
        ['known', 'mount'],
        ['likely', '/etc/a'],
      ],
    );
    const many = Array.from({ length: 30 }, (_, index) => `sh: /opt/${index}: Read-only file system`);
    assert.equal(describeEach(many.join('\n')).length, 20);
  });

  it('tells of a command that succeeded only what is certain', () => {
    const denials = describeEach('sh: cannot create /opt/a: Read-only file system', {
      exitCode: 0,
      deniedCalls: [
        { call: 'socket', detail: 38 },
        { call: 'ioctl', detail: 0x5412 },
        { call: 'kcmp', detail: 0 },
      ],
    });
    assert.ok(denials.every(({ certainty, clause }) => certainty === 'known' && clause === undefined));
    assert.deepEqual(
      denials.map(({ call, message }) => [call, /call (.*)\.$/.exec(message)?.[1]]),
      [
        ['socket', 'socket for cryptography of the kernel (AF_ALG)'],
        ['ioctl', 'ioctl with typing into the terminal (TIOCSTI)'],
        ['kcmp', 'kcmp'],
      ],
    );
  });

  it('names protected metadata inside a root', () => {
    const denial = expectDenial('sh: cannot create /w/p/.vscode/x: Read-only file system');
    assert.match(denial.message, /metadata/);
  });

  it('tells who may write in .git', () => {
    const output = 'sh: cannot create /w/p/.git/hooks/x: Read-only file system';
    const under = (git: SandboxPolicy['git'], source: 'request' | 'default'): Denial =>
      expectDenial(output, { policy: { ...policy, git, sources: { ...policy.sources, git: source } } });
    assert.equal(under('read-only', 'request').clause, 'git');
    assert.match(under('read-only', 'request').message, /only command lines that run git/);
    assert.match(under('read-only', 'request').hint, /cordon\.sandbox\.git/);
    assert.match(under('writable', 'request').message, /hooks/);
    assert.match(under('read-only', 'default').hint, /cordon\.sandbox\.git to "commands"/);
  });

  it('names the rule that makes a path read-only, and where it can be changed', () => {
    const output = `touch: cannot touch '/w/p/docs/x': Read-only file system`;
    const under = (source: 'user' | 'managed' | 'workspace'): Denial =>
      expectDenial(output, {
        policy: {
          ...policy,
          files: [...policy.files, { path: '/w/p/docs', access: 'read', source, writtenAs: './docs' }],
        },
      });
    assert.equal(under('user').clause, 'files');
    assert.match(under('user').message, /read-only by the rule "\.\/docs" of the user settings/);
    assert.match(under('user').hint, /add "\/w\/p\/docs\/x": "write" to cordon\.sandbox\.files/);
    assert.match(under('managed').hint, /administrator/);
    assert.match(under('workspace').hint, /workspace settings/);
  });

  it('explains a read-only mode and an untrusted workspace', () => {
    const output = `touch: cannot touch '/w/p/x': Read-only file system`;
    const readOnly = { ...policy, mode: 'read-only' } as const;
    assert.equal(expectDenial(output, { policy: readOnly }).clause, 'mode');
    const from = (source: 'untrusted' | 'managed' | 'user'): string =>
      expectDenial(output, { policy: { ...readOnly, sources: allFrom(source) } }).hint;
    assert.match(from('untrusted'), /trust/);
    assert.match(from('managed'), /administrator/);
    assert.match(from('user'), /status bar/);
  });

  describe('of a hidden path', () => {
    const hiding: SandboxPolicy = {
      ...policy,
      files: [
        ...policy.files,
        { path: '/home/ann', access: 'none', source: 'default', writtenAs: ':home' },
        { path: '/home/ann/tool', access: 'read', source: 'user' },
      ],
      hidden: [{ folder: '/w/p', glob: '**/.env', source: 'default' }],
    };
    const hidden: readonly (readonly [string, string])[] = [
      ['cat: /home/ann/notes: No such file or directory', '/home/ann/notes'],
      [`Error: ENOENT: no such file or directory, open '/home/ann/notes'`, '/home/ann/notes'],
      ['cat: .env: Permission denied', '/w/p/.env'],
      ['cat: ./sub/.env: Permission denied', '/w/p/sub/.env'],
      ['ls: cannot access ‘/home/ann/a b’: No such file or directory', '/home/ann/a b'],
    ];
    for (const [output, path] of hidden) {
      it(`finds ${path} in ${JSON.stringify(output)}`, () => {
        const denial = expectDenial(output, { policy: hiding });
        assert.deepEqual([denial.clause, denial.path], ['files', path]);
        assert.match(denial.message, /hidden by the rule "(:home|\*\*\/\.env)" of Cordon's defaults/);
        assert.match(denial.hint, /: "read" to cordon\.sandbox\.files/);
      });
    }

    it('does not blame the sandbox for what is missing outside, too, or is shown', () => {
      for (const path of ['/home/ann/gone', '/home/ann/tool/x', '/w/p/x']) {
        const output = `cat: ${path}: No such file or directory`;
        assert.equal(describeAll(output, { policy: hiding }), undefined, path);
      }
    });
  });

  describe('of a limit', () => {
    const limits = { processes: 10, memoryMiB: 20, fileSizeMiB: 30, cpuSeconds: 40 };
    const signs: readonly (readonly [string, number, keyof typeof limits])[] = [
      ['bash: fork: retry: Resource temporarily unavailable', 254, 'processes'],
      ['sh: 1: Cannot fork', 2, 'processes'],
      [`RuntimeError: can't start new thread`, 1, 'processes'],
      ['tac: memory exhausted: Cannot allocate memory', 1, 'memoryMiB'],
      ['MemoryError', 1, 'memoryMiB'],
      ['', 153, 'fileSizeMiB'],
      ['dd: error writing: File too large', 1, 'fileSizeMiB'],
      ['', 152, 'cpuSeconds'],
    ];
    for (const [output, exitCode, limit] of signs) {
      it(`names ${limit} for exit ${exitCode} after "${output}"`, () => {
        const denial = expectDenial(output, { policy: { ...policy, limits }, exitCode });
        assert.equal(denial.clause, 'limits');
        assert.match(denial.message, new RegExp(`\\b${limits[limit]}\\b`));
        assert.match(denial.hint, new RegExp(`cordon\\.sandbox\\.limits\\.${limit}`));
        assert.equal(describeAll(output, { exitCode }), undefined);
      });
    }

    it('names the administrator, whose limit a person cannot raise', () => {
      const managed = { ...policy, limits, sources: allFrom('managed') };
      assert.match(expectDenial('', { policy: managed, exitCode: 153 }).hint, /administrator/);
    });
  });

  it('explains a network that is off', () => {
    const output = 'curl: (7) Failed to connect to localhost port 8080';
    assert.equal(expectDenial(output, { exitCode: 7 }).clause, 'network');
    const open = { ...policy, network: 'on' } as const;
    assert.equal(describeAll(output, { policy: open, exitCode: 7 }), undefined);
  });

  const unreached: readonly (readonly [string, string | undefined])[] = [
    ['curl: (7) Failed to connect to localhost port 8080 after 0 ms', 'localhost:8080'],
    ['curl: (6) Could not resolve host: example.org', 'example.org'],
    ["wget: unable to resolve host address 'example.org'", 'example.org'],
    ["fatal: unable to access 'https://example.org/': Could not resolve host: example.org", 'example.org'],
    ['Error: getaddrinfo ENOTFOUND registry.example.org', 'registry.example.org'],
    ['Error: connect ECONNREFUSED 127.0.0.1:5432', '127.0.0.1:5432'],
    ['dial tcp: lookup proxy.example.org: Temporary failure in name resolution', 'proxy.example.org'],
    ['dial tcp 192.0.2.1:443: connect: network is unreachable', '192.0.2.1:443'],
    ['ping: example.org: Name or service not known', 'example.org'],
    ['Network is unreachable', undefined],
  ];
  for (const [output, host] of unreached) {
    it(`finds the host ${host} in ${JSON.stringify(output)}`, () => {
      const denial = expectDenial(output);
      assert.deepEqual([denial.clause, denial.certainty, denial.host], ['network', 'likely', host]);
    });
  }

  it('names the host that the proxy refused, and what reaches no proxy', () => {
    const listed = { ...policy, network: 'allow-list' } as const;
    const output =
      'curl: (56) CONNECT tunnel failed\ncordon: example.org:443 is not on the allow-list of this folder\n';
    const denial = expectDenial(output, { policy: listed, exitCode: 56 });
    assert.deepEqual([denial.clause, denial.host], ['hosts', 'example.org:443']);
    assert.match(denial.hint, /"example\.org:443": "allow" to cordon\.sandbox\.hosts/);
    const around = expectDenial('ping: example.org: Name or service not known', { policy: listed });
    assert.equal(around.clause, 'network');
    assert.match(around.message, /proxy/);
  });
});
