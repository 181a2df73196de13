import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  PermissionEntry,
  SandboxContext,
} from '../../../../src/runtime/execServer/protocol/sandboxContext.ts';
import { sandboxContext } from '../../../../src/runtime/execServer/protocol/sandboxContext.ts';
import { confinementOf } from '../../../../src/runtime/execServer/services/sandboxContext/confinement.ts';
import type { ContextMachine } from '../../../../src/runtime/execServer/services/sandboxContext/contextMachine.ts';
import { contextMachine } from '../../../../src/runtime/execServer/services/sandboxContext/contextMachine.ts';
import type { SandboxPolicy } from '../../../../src/sandbox/policy/policy.ts';
import { accessTo } from '../../../../src/sandbox/policy/fileRules.ts';
import { isUnsandboxed } from '../../../../src/sandbox/policy/policy.ts';
import { at, contextOf, pattern, place, workspaceWrite } from '../../../harness/sandboxContexts.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

const uri = (path: string): string => pathToFileURL(path).href;

describe('A sandbox context as a policy of this machine', () => {
  let temporary: TemporaryFolder;
  let folder: string;
  let root: string;
  let machine: ContextMachine;

  beforeEach(async () => {
    temporary = await createTemporaryFolder('context');
    folder = temporary.path;
    root = join(folder, 'root');
    for (const name of ['root/.git/hooks', 'root/sub/node_modules/lib', 'other', 'secret/inner']) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    for (const name of [
      'root/.env',
      'root/sub/node_modules/lib/.env',
      'root/sub/(a).key',
      'root/sub/a.key',
    ]) {
      writeFileSync(join(folder, name), '');
    }
    // The test's own folder lies in the machine's temporary one.
    machine = {
      ...contextMachine({ TMPDIR: join(folder, 'other') }),
      sharedFolders: [join(folder, 'shared')],
    };
  });

  afterEach(() => temporary.dispose());

  const resolve = async (context: SandboxContext, cwd = root): Promise<SandboxPolicy> => {
    const answer = await confinementOf({ sandbox: context }, { kind: 'process', cwd }, machine);
    assert.ok(answer.ok, answer.ok ? '' : answer.error.message);
    return answer.value.policy;
  };
  const inRoot = (entries: readonly PermissionEntry[], more = {}): Promise<SandboxPolicy> =>
    resolve(contextOf(entries, { cwd: uri(root), workspaceRoots: [uri(root)], ...more }));
  const refused = async (context: SandboxContext, kind: 'process' | 'files' = 'process') => {
    const asker = kind === 'process' ? ({ kind, cwd: root } as const) : ({ kind } as const);
    const answer = await confinementOf({ sandbox: context }, asker, machine);
    assert.ok(!answer.ok);
    assert.equal(answer.error.code, -32_602);
    return answer.error.message;
  };
  const accesses = (policy: SandboxPolicy, ...paths: readonly string[]): string[] =>
    paths.map((path) => accessTo(policy, path.startsWith('/') ? path : join(folder, path)));

  it('for what Codex sends as workspace-write', async () => {
    const policy = await inRoot(workspaceWrite);
    assert.deepEqual(
      accesses(
        policy,
        '/',
        '/etc/passwd',
        'root/new',
        'root/.git/config',
        'root/.agents',
        'other/x',
        '/tmp/x',
      ),
      ['read', 'read', 'write', 'read', 'read', 'write', 'write'],
    );
    assert.deepEqual(
      [policy.mode, policy.network, policy.git, policy.caches, policy.tmp, policy.root],
      ['workspace-write', 'off', 'read-only', 'off', 'shared', root],
    );
    assert.deepEqual([policy.hosts, policy.sockets, policy.limits], [{ allow: [], deny: [] }, [], {}]);
    assert.ok(policy.files.every(({ source }) => source === 'request'));
  });

  it('for what Codex sends as read-only, with nothing writable in the temporary folders', async () => {
    const policy = await inRoot([place('root', 'read')]);
    assert.equal(policy.mode, 'read-only');
    assert.ok(policy.files.every(({ access }) => access === 'read'));
    assert.ok(policy.files.some(({ path }) => path === join(folder, 'shared')));
  });

  it('where only what it names can be seen', async () => {
    const policy = await inRoot([place('minimal', 'read'), at(join(folder, 'secret'), 'read')]);
    assert.deepEqual(accesses(policy, '/usr/bin/env', 'secret/x', 'root', '/home', '/'), [
      'read',
      'read',
      'none',
      'none',
      'none',
    ]);
    assert.deepEqual(accesses(await inRoot([]), '/usr', 'root'), ['none', 'none']);
  });

  it('with the deepest entry in force, and of one path deny before write before read', async () => {
    const policy = await inRoot([
      place('root', 'read'),
      at(folder, 'deny'),
      at(root, 'write'),
      at(join(root, 'sub'), 'read'),
      at(join(root, 'sub', 'node_modules'), 'write'),
      at(join(folder, 'other'), 'read'),
      at(join(folder, 'other'), 'write'),
      at(join(folder, 'secret'), 'write'),
      at(join(folder, 'secret'), 'none'),
    ]);
    assert.deepEqual(
      accesses(policy, '.', 'x', 'root/x', 'root/sub/x', 'root/sub/node_modules/x', 'other', 'secret'),
      ['none', 'none', 'write', 'read', 'write', 'write', 'none'],
    );
  });

  it('with policyContext before the older members', async () => {
    const other = uri(join(folder, 'other'));
    const entries = [place('project_roots', 'write'), place('current_working_directory', 'read', 'inner')];
    const policy = await inRoot(entries, {
      policyContext: { cwd: uri(join(folder, 'secret')), workspaceRoots: [other] },
    });
    assert.deepEqual(accesses(policy, 'root', 'other', 'secret', 'secret/inner'), [
      'none',
      'write',
      'none',
      'read',
    ]);
    const half = await inRoot(entries, { policyContext: { workspaceRoots: null } });
    assert.deepEqual(accesses(half, 'root', 'other'), ['write', 'none']);
  });

  it('with the temporary folders that it names instead of the machine’s', async () => {
    const entries = [place('tmpdir', 'write')];
    assert.deepEqual(accesses(await inRoot(entries), 'other', 'secret'), ['write', 'none']);
    const policy = await inRoot(entries, { temporaryDirectories: [uri(join(folder, 'secret'))] });
    assert.deepEqual(accesses(policy, 'other', 'secret'), ['none', 'write']);
  });

  it('without writable places that do not exist, and with skipped entries only where something is', async () => {
    const policy = await inRoot([
      place('root', 'read'),
      place('project_roots', 'write'),
      at(join(folder, 'missing'), 'write'),
      at(join(root, 'kept'), 'read'),
      at(join(root, 'skipped'), 'read', 'skip'),
      at(join(root, 'denied'), 'deny', 'skip'),
      place('project_roots', 'read', '.aws', 'skip'),
    ]);
    assert.deepEqual(accesses(policy, 'missing', 'root/kept', 'root/skipped', 'root/denied', 'root/.aws'), [
      'read',
      'read',
      'write',
      'none',
      'read',
    ]);
  });

  it('with denied patterns, in folders that policies do not search, too, before any entry', async () => {
    const policy = await inRoot([
      place('root', 'read'),
      place('project_roots', 'write'),
      at(join(root, '.env'), 'read'),
      pattern('**/.env'),
      pattern(`${root}/sub/(a).ke?`),
      pattern(`${folder}/secret`),
    ]);
    assert.deepEqual(
      accesses(
        policy,
        'root/.env',
        'root/sub/node_modules/lib/.env',
        'root/sub/(a).key',
        'root/sub/a.key',
        'secret/x',
      ),
      ['none', 'none', 'none', 'write', 'none'],
    );
    assert.deepEqual(accesses(await inRoot([place('root', 'read'), pattern('*')]), 'root/.git'), ['none']);
  });

  it('with all of the machine writable, .git included', async () => {
    const policy = await inRoot([place('root', 'write'), ...workspaceWrite.slice(1, 4)]);
    assert.deepEqual(
      policy.files.map(({ path, access }) => [path, access]),
      [['/', 'write']],
    );
    assert.equal(policy.mode, 'workspace-write');
    const unrestricted = sandboxContext.parse({
      permissions: { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' },
      windowsSandboxLevel: 'disabled',
    });
    const all = await resolve(unrestricted);
    assert.deepEqual([accessTo(all, '/x'), all.network], ['write', 'off']);
  });

  it('with the network', async () => {
    assert.equal((await inRoot(workspaceWrite, { network: 'enabled' })).network, 'on');
  });

  for (const permissions of [
    { type: 'disabled' },
    { type: 'external', network: 'restricted' },
    { type: 'managed', file_system: { type: 'unrestricted' }, network: 'enabled' },
  ]) {
    it(`that confines nothing: ${JSON.stringify(permissions)}`, async () => {
      const sandbox = sandboxContext.parse({ permissions, windowsSandboxLevel: 'disabled' });
      const answer = await confinementOf({ sandbox }, { kind: 'process', cwd: root }, machine);
      assert.ok(answer.ok && isUnsandboxed(answer.value.policy));
      assert.equal(answer.value.sandboxType, 'linuxSeccomp');
    });
  }

  it('is none at all without a context', async () => {
    const answer = await confinementOf({ sandbox: null }, { kind: 'process', cwd: root }, machine);
    assert.ok(answer.ok && isUnsandboxed(answer.value.policy));
    assert.equal(answer.value.sandboxType, 'none');
  });

  it('has nothing of roots that nobody named, which a file call is told', async () => {
    const context = contextOf([place('root', 'read'), place('project_roots', 'write')]);
    assert.equal((await resolve(context)).mode, 'read-only');
    assert.match(await refused(context, 'files'), /needs cwd or workspaceRoots/);
    assert.match(await refused(contextOf([pattern('*.env')]), 'files'), /needs a cwd/);
  });

  it('leaves out an unknown place to write in, and refuses to leave out one that is protected', async () => {
    assert.equal((await inRoot([place('root', 'read'), place('unknown', 'write', 'x')])).mode, 'read-only');
    assert.match(await refused(contextOf([place('unknown', 'read')])), /unknown special place/);
    assert.match(await refused(contextOf([place('unknown', 'deny', 'x')])), /unknown special place \("x"\)/);
  });

  const malformed: readonly (readonly [string, readonly PermissionEntry[], object, RegExp])[] = [
    ['a subpath that climbs out', [place('project_roots', 'write', '../other')], {}, /stay below/],
    ['one that hides it', [place('project_roots', 'write', 'a/../../other')], {}, /stay below/],
    ['an absolute subpath', [place('project_roots', 'write', '/etc')], {}, /stay below/],
    ['a subpath of a place without', [place('root', 'read', 'etc')], {}, /takes no subpath/],
    ['a pattern that opens', [pattern('*.txt', 'write')], {}, /only be denied/],
    ['a pattern that climbs out', [pattern('../*.txt')], {}, /"\.\."/],
    ['a pattern that is none', [pattern('a/[')], {}, /not valid/],
    [
      'restricted files under legacy Landlock',
      [place('root', 'read')],
      { useLegacyLandlock: true },
      /useLegacyLandlock/,
    ],
    [
      'a folder of another machine',
      [place('root', 'read')],
      { cwd: 'file://host/x' },
      /not valid on this host/,
    ],
    [
      'an encoded slash',
      [place('root', 'read')],
      { workspaceRoots: ['file:///a%2fb'] },
      /not valid on this host/,
    ],
  ];
  for (const [what, entries, more, expected] of malformed) {
    it(`refuses ${what}`, async () => {
      assert.match(await refused(contextOf(entries, more)), expected);
    });
  }

  it('refuses two ways to say it at once', async () => {
    const policy = { sandbox: contextOf([]), policy: {} as never };
    const answer = await confinementOf(policy, { kind: 'process', cwd: root }, machine);
    assert.ok(!answer.ok && /together/.test(answer.error.message));
  });

  describe('where links could be the work of a command', () => {
    beforeEach(() => {
      symlinkSync(join(folder, 'secret'), join(root, 'out'));
      symlinkSync(root, join(folder, 'link-to-root'));
      symlinkSync('/', join(root, 'all'));
    });

    it('opens nothing over one that lies in a writable place', async () => {
      for (const entry of [
        at(join(root, 'out'), 'write'),
        at(join(root, 'out', 'inner'), 'write'),
        at(join(root, 'all', 'etc'), 'write'),
        at(join(folder, 'link-to-root', 'out'), 'write'),
        place('project_roots', 'write', 'out'),
      ]) {
        const policy = await inRoot([place('root', 'read'), place('project_roots', 'write'), entry]);
        assert.deepEqual(accesses(policy, 'secret/x', 'secret/inner', '/etc/x', 'root/x'), [
          'read',
          'read',
          'read',
          'write',
        ]);
        const hidden = await inRoot([place('project_roots', 'write'), { ...entry, access: 'read' }]).catch(
          () => undefined,
        );
        assert.ok(hidden === undefined || accessTo(hidden, join(folder, 'secret')) === 'none');
      }
    });

    it('nor over one that takes a part of a root elsewhere, even where nothing else is writable', async () => {
      const policy = await inRoot([place('root', 'read'), place('project_roots', 'write', 'out')]);
      assert.equal(policy.mode, 'read-only');
    });

    it('nor where it is itself the root or the folder', async () => {
      for (const [name, kind] of [
        ['out', 'project_roots'],
        ['all', 'project_roots'],
        ['all', 'current_working_directory'],
      ] as const) {
        const where = uri(join(root, name));
        const policy = await resolve(
          contextOf([place('root', 'read'), at(root, 'write'), place(kind, 'write')], {
            cwd: where,
            workspaceRoots: [where],
          }),
        );
        assert.deepEqual(accesses(policy, 'secret', '/etc', 'root'), ['read', 'read', 'write']);
      }
    });

    it('nor over those that differ from process to process', async () => {
      const policy = await inRoot([place('root', 'read'), at('/proc/self/root/etc', 'write')]);
      assert.equal(policy.mode, 'read-only');
    });

    it('but still hides what it leads to, and keeps it from being written', async () => {
      const denied = await inRoot([place('root', 'write'), at(join(root, 'out'), 'deny')]);
      assert.deepEqual(accesses(denied, 'secret/x'), ['none']);
      symlinkSync(join(root, 'sub'), join(root, '.codex'));
      const kept = await inRoot(workspaceWrite.concat(place('project_roots', 'read', '.codex')));
      assert.deepEqual(accesses(kept, 'root/sub'), ['read']);
    });

    it('refuses to keep read-only what another link could take the place of', async () => {
      symlinkSync(join(root, 'sub'), join(root, 'settings'));
      const context = contextOf([
        place('root', 'read'),
        at(root, 'write'),
        at(join(root, 'settings'), 'read'),
      ]);
      assert.match(
        await refused(context),
        /settings cannot be kept read-only: the link .*Name what it leads to/,
      );
    });

    it('and follows those of the person', async () => {
      // The test itself takes place in /tmp.
      const inProject = workspaceWrite.filter((entry) => !JSON.stringify(entry).includes('slash_tmp'));
      const policy = await resolve(
        contextOf(inProject, { workspaceRoots: [uri(join(folder, 'link-to-root'))] }),
      );
      assert.deepEqual([policy.root, ...accesses(policy, 'root/x')], [root, 'write']);
    });
  });

  it('reads dot segments, encoded or not, as a URI has them, before any link', async () => {
    const sneaky = `${uri(root)}/sub/%2e%2e/../other`;
    const policy = await resolve(contextOf([place('project_roots', 'write')], { workspaceRoots: [sneaky] }));
    assert.deepEqual(accesses(policy, 'other', 'root', 'secret'), ['write', 'none', 'none']);
  });
});
