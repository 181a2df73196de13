import assert from 'node:assert/strict';
import type { Denial, DenialContext } from '../../../src/sandbox/describeDenial.ts';
import { describeDenial } from '../../../src/sandbox/describeDenial.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import { allFrom, policyOf } from '../../harness/policyOf.ts';

const policy = policyOf('/w/p');
const missing: readonly string[] = ['/home/ann/gone'];

function describeAll(output: string, changes: Partial<DenialContext> = {}): Denial | undefined {
  return describeDenial({
    output,
    policy,
    exitCode: 1,
    cwd: '/w/p',
    canonicalize: (path) => (missing.includes(path) ? undefined : path.replace('/link', '/target')),
    isSuspected: true,
    ...changes,
  });
}

function expectDenial(output: string, changes: Partial<DenialContext> = {}): Denial {
  const denial = describeAll(output, changes);
  assert.ok(denial !== undefined);
  return denial;
}

describe('describeDenial()', () => {
  const paths: readonly (readonly [string, string])[] = [
    [`touch: cannot touch '/root/x': Read-only file system`, '/root/x'],
    ['touch: cannot touch ‘/root/a b’: Read-only file system', '/root/a b'],
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
      assert.equal(denial.path, path);
      assert.equal(denial.clause, 'writableRoots');
      assert.match(denial.message, /^The sandbox stopped the write to .*writes are limited to \/w\/p/);
      assert.match(denial.hint, /cordon\.sandbox\.writableRoots/);
    });
  }

  it('says "likely" for a permission that may have other reasons', () => {
    assert.match(expectDenial('cat: /etc/shadow: Permission denied').message, /likely/);
  });

  it('says that it does not know', () => {
    const denial = expectDenial('seccomp');
    assert.equal(denial.clause, undefined);
    assert.match(denial.message, /does not tell what/);
  });

  it('explains nothing that nobody suspects', () => {
    assert.equal(describeAll('cat: /etc/x: Permission denied', { isSuspected: false }), undefined);
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
        const denial = expectDenial(output, { policy: hiding, isSuspected: false });
        assert.deepEqual([denial.clause, denial.path], ['files', path]);
        assert.match(denial.message, /hidden by the rule "(:home|\*\*\/\.env)" of Cordon's defaults/);
        assert.match(denial.hint, /: "read" to cordon\.sandbox\.files/);
      });
    }

    it('does not blame the sandbox for what is missing outside, too, or is shown', () => {
      for (const path of ['/home/ann/gone', '/home/ann/tool/x', '/w/p/x']) {
        const output = `cat: ${path}: No such file or directory`;
        assert.equal(describeAll(output, { policy: hiding, isSuspected: false }), undefined, path);
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
        const denial = expectDenial(output, { policy: { ...policy, limits }, exitCode, isSuspected: false });
        assert.equal(denial.clause, 'limits');
        assert.match(denial.message, new RegExp(`\\b${limits[limit]}\\b`));
        assert.match(denial.hint, new RegExp(`cordon\\.sandbox\\.limits\\.${limit}`));
        assert.equal(describeAll(output, { exitCode, isSuspected: false }), undefined);
      });
    }

    it('names the administrator, whose limit a person cannot raise', () => {
      const managed = { ...policy, limits, sources: allFrom('managed') };
      assert.match(expectDenial('', { policy: managed, exitCode: 153 }).hint, /administrator/);
    });
  });

  it('explains a network that is off', () => {
    const output = 'curl: (7) Failed to connect to localhost port 8080';
    assert.equal(expectDenial(output, { exitCode: 7, isSuspected: false }).clause, 'network');
    const open = { ...policy, network: 'on' } as const;
    assert.equal(expectDenial(output, { policy: open, exitCode: 7 }).clause, undefined);
  });

  it('names the host that the proxy refused, and what reaches no proxy', () => {
    const listed = { ...policy, network: 'allow-list' } as const;
    const output =
      'curl: (56) CONNECT tunnel failed\ncordon: example.org:443 is not on the allow-list of this folder\n';
    const denial = expectDenial(output, { policy: listed, exitCode: 56, isSuspected: false });
    assert.deepEqual([denial.clause, denial.host], ['hosts', 'example.org:443']);
    assert.match(denial.hint, /"example\.org:443": "allow" to cordon\.sandbox\.hosts/);
    const around = expectDenial('ping: example.org: Name or service not known', { policy: listed });
    assert.equal(around.clause, 'network');
    assert.match(around.message, /proxy/);
  });
});
