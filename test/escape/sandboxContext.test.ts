import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PermissionEntry } from '../../src/runtime/execServer/protocol/sandboxContext.ts';
import { confinementOf } from '../../src/runtime/execServer/services/sandboxContext/confinement.ts';
import { contextMachine } from '../../src/runtime/execServer/services/sandboxContext/contextMachine.ts';
import { toWire } from '../../src/runtime/execServer/services/sandboxContext/wirePolicy.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { at, contextOf, pattern, place } from '../harness/sandboxContexts.ts';
import type { Outcome } from './harness.ts';
import { Arena, helperPath } from './harness.ts';

const uri = (path: string): string => pathToFileURL(path).href;
const readable = place('root', 'read');
const roots = place('project_roots', 'write');

describe('A sandbox context of an exec-server gives no more than it says', function () {
  this.timeout(30_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  const home = process.env['HOME'] ?? '/nonexistent';
  beforeEach(() => {
    arena = new Arena();
  });
  afterEach(() => {
    process.env['HOME'] = home;
    arena.dispose();
  });

  interface Where {
    readonly cwd?: string;
    readonly root?: string;
  }
  const resolve = async (
    entries: readonly PermissionEntry[],
    { cwd = arena.root, root = arena.root }: Where = {},
  ): Promise<SandboxPolicy> => {
    const sandbox = contextOf(entries, { cwd: uri(cwd), workspaceRoots: [uri(root)] });
    const answer = await confinementOf({ sandbox }, { kind: 'process', cwd }, contextMachine({}));
    assert.ok(answer.ok, answer.ok ? '' : answer.error.message);
    return answer.value.policy;
  };
  const shell = async (
    script: string,
    entries: readonly PermissionEntry[],
    where: Where = {},
  ): Promise<Outcome> =>
    arena.run(['/bin/bash', '-c', script], { cwd: arena.root }, await resolve(entries, where));
  const isUntouched = (): boolean => readdirSync(arena.outside).length === 0;
  const plant = (name: string, target: string): string => {
    const link = join(arena.root, name);
    symlinkSync(target, link);
    return link;
  };

  it('through a link that a command planted where an entry leads', async () => {
    const link = plant('build', arena.outside);
    const script = `echo x > ${arena.outside}/new`;
    for (const entry of [at(link, 'write'), place('project_roots', 'write', 'build')]) {
      assert.notEqual((await shell(script, [readable, roots, entry])).exitCode, 0);
    }
    assert.ok(isUntouched());
    assert.equal((await shell(script, [readable, roots, at(arena.outside, 'write')])).exitCode, 0);
  });

  it('through one that stands for the root or the folder of the command', async () => {
    const link = plant('project', arena.outside);
    const all = plant('all', '/');
    const script = `echo x > ${arena.outside}/new`;
    const own = at(arena.root, 'write');
    for (const [entry, where] of [
      [roots, { root: link }],
      [roots, { root: all }],
      [place('current_working_directory', 'write'), { cwd: link }],
    ] as const) {
      assert.notEqual((await shell(script, [readable, own, entry], where)).exitCode, 0);
    }
    assert.ok(isUntouched());
    assert.equal((await shell(script, [readable, own, roots], { root: arena.outside })).exitCode, 0);
  });

  it('through one that opens a hidden place for reading', async () => {
    writeFileSync(join(arena.outside, 'key'), 'SECRET');
    const link = plant('notes', arena.outside);
    const script = `cat ${arena.outside}/key`;
    const hidden = [readable, at(arena.outside, 'deny'), roots];
    for (const entry of [at(join(link, 'key'), 'write'), place('project_roots', 'write', 'notes')]) {
      assert.equal((await shell(script, [...hidden, entry])).stdout, '');
    }
    const opened = [...hidden, at(join(arena.outside, 'key'), 'read')];
    assert.equal((await shell(script, opened)).stdout, 'SECRET');
  });

  it('by a subpath or a pattern that climbs out of its root', async () => {
    for (const entry of [
      place('project_roots', 'write', '../outside'),
      place('project_roots', 'write', 'a/../../outside'),
      place('project_roots', 'write', arena.outside),
      pattern('../outside/*'),
    ]) {
      await assert.rejects(resolve([readable, roots, entry]), /-32602|must|stay below/);
    }
    const inside = place('project_roots', 'write', 'a/../inside');
    mkdirSync(join(arena.root, 'inside'));
    assert.equal((await shell('echo x > inside/new', [readable, inside])).exitCode, 0);
  });

  it('by dot segments, written or encoded, which lead where a URI says and nowhere else', async () => {
    const script = `echo x > ${arena.outside}/new`;
    const answer = await confinementOf(
      {
        sandbox: contextOf([readable, roots], { workspaceRoots: [`${uri(arena.root)}/%2e%2e/root/./x/..`] }),
      },
      { kind: 'process', cwd: arena.root },
      contextMachine({}),
    );
    assert.ok(answer.ok);
    const { policy } = answer.value;
    assert.notEqual((await arena.run(['/bin/bash', '-c', script], {}, policy)).exitCode, 0);
    assert.equal((await arena.run(['/bin/bash', '-c', 'echo x > new'], {}, policy)).exitCode, 0);
  });

  it('by a link that comes between the resolving and the start', async () => {
    const folder = join(arena.root, 'data');
    mkdirSync(folder);
    const policy = await resolve([readable, at(folder, 'write')]);
    const wire = toWire(policy);
    renameSync(folder, `${folder}-before`);
    symlinkSync(arena.outside, folder);
    const command = { argv: ['/bin/true'], cwd: arena.root, env: {}, tty: false };
    const launch = await arena.manager.transform(policy, command);
    assert.ok(!launch.ok && launch.error.kind === 'clause-unenforceable');
    const answer = await confinementOf(
      { policy: wire },
      { kind: 'process', cwd: arena.root },
      contextMachine({}),
    );
    assert.ok(!answer.ok && /files: .*not canonical/.test(answer.error.message));
    const again = await arena.manager.transform(
      await resolve([readable, at(`${folder}-before`, 'write')]),
      command,
    );
    assert.ok(again.ok);
    await again.value.release();
  });

  it('in folders that policies do not search, where a pattern hides something', async () => {
    mkdirSync(join(arena.root, 'node_modules/lib'), { recursive: true });
    writeFileSync(join(arena.root, 'node_modules/lib/.env'), 'SECRET');
    const script = 'cat node_modules/lib/.env';
    assert.equal((await shell(script, [readable, roots, pattern('**/.env')])).stdout, '');
    assert.equal((await shell(script, [readable, roots])).stdout, 'SECRET');
  });

  it('where the home folder is the root: what a login obeys', async () => {
    const script = 'mkdir -p .ssh && echo x > .ssh/authorized_keys';
    process.env['HOME'] = arena.root;
    assert.notEqual((await shell(script, [readable, roots])).exitCode, 0);
    assert.ok(!existsSync(join(arena.root, '.ssh/authorized_keys')));
    process.env['HOME'] = home;
    assert.equal((await shell(script, [readable, roots])).exitCode, 0);
  });

  it('where all of the machine is the root: what later runs trust', async () => {
    const script = `test -w ${helperPath} || test -w ${dirname(helperPath)}`;
    const written = 'echo x > ../outside/new';
    for (const entries of [[place('root', 'write')], [readable, roots]]) {
      assert.notEqual((await shell(script, entries, { root: '/' })).exitCode, 0);
      assert.equal((await shell(written, entries, { root: '/' })).exitCode, 0);
    }
  });

  it('in /tmp, where no entry speaks of it', async () => {
    const name = `/tmp/cordon-context-${process.pid}`;
    const script = `echo x > ${name} && rm ${name}`;
    assert.notEqual((await shell(script, [readable, roots])).exitCode, 0);
    assert.equal((await shell(script, [readable, roots, place('slash_tmp', 'write')])).exitCode, 0);
  });
});
