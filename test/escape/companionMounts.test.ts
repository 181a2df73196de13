import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { companionGround } from '../../src/sandbox/linux/bubblewrap/companionMounts.ts';
import type { Outcome } from './harness.ts';
import { Arena, finished, helperPath, isRoot } from './harness.ts';

const machine = ['read', '/', '/', 'write', '/dev', '/dev', 'write', '/proc', '/proc'];

/** Runs a command as process 1's, in the mounts of a list. */
function mounted(list: readonly string[], command: readonly string[] = ['true']): Promise<Outcome> {
  const namespaces = ['--unshare-user', '--unshare-pid', '--as-pid-1', '--die-with-parent'];
  const options = [...namespaces, ...companionGround, '--', helperPath, '--mounts', ...list];
  return finished(spawn('bwrap', [...options, '--', ...command], { stdio: ['ignore', 'pipe', 'pipe'] }));
}

describe('The companion program, which makes the mounts,', function () {
  let arena: Arena;
  before(async function () {
    if (process.platform !== 'linux') this.skip();
    arena = new Arena();
    writeFileSync(join(arena.root, 'file'), 'content');
    mkdirSync(join(arena.root, 'folder/sub'), { recursive: true });
    symlinkSync('folder', join(arena.root, 'link'));
    // What is refused below must be refused for its own reason.
    const able = await mounted([...machine, 'write', arena.root, arena.root]);
    if (able.exitCode !== 0) this.skip();
  });
  after(() => arena?.dispose());

  const refusals: readonly (readonly [string, (root: string) => readonly string[], RegExp])[] = [
    ['a name that is not on the disk', (root) => ['empty', `${root}/missing`], /mount on .*\/missing/],
    ['a missing source', (root) => ['read', `${root}/missing`, `${root}/file`], /mount on .*\/missing/],
    ['a link in a target', (root) => ['empty', `${root}/link`], /mount on .*\/link\)/],
    ['a link on the way to a target', (root) => ['empty', `${root}/link/sub`], /mount on .*\/link\/sub/],
    ['a link in a source', (root) => ['read', `${root}/link`, `${root}/folder`], /mount on .*\/link\)/],
    ['a file over a folder', (root) => ['unreadable', `${root}/folder`], /mount on .*\/folder/],
    ['a folder over a file', (root) => ['closed', `${root}/file`], /mount on .*\/file/],
    ['a folder on the disk', (root) => ['folder', `${root}/new`], /mount on .*\/new/],
    ['an unknown word', () => ['bind', '/usr', '/usr'], /list of mounts/],
    ['half a mount', () => ['read', '/usr'], /list of mounts/],
    [
      'too many mounts',
      () => Array.from({ length: 4097 }, () => ['folder', '/tmp/x']).flat(),
      /list of mounts/,
    ],
  ];
  for (const [what, list, reason] of refusals) {
    it(`refuses ${what}, and runs nothing`, async () => {
      const outcome = await mounted([...machine, ...list(arena.root)], ['echo', 'ran']);
      assert.deepEqual([outcome.exitCode, outcome.stdout], [125, '']);
      assert.match(outcome.stderr, reason);
    });
  }

  for (const list of [[], ['read', '/usr', '/usr'], ['scratch', '/']]) {
    it(`refuses a list without a root: ${list.join(' ')}`, async () => {
      const outcome = await mounted(list, ['echo', 'ran']);
      assert.deepEqual([outcome.exitCode, outcome.stdout], [125, '']);
    });
  }

  it('takes a link whose target looks like the end of the list', async () => {
    const list = [...machine, 'shown', '/run', 'link', '--', '/run/odd'];
    assert.equal((await mounted(list, ['readlink', '/run/odd'])).stdout, '--\n');
  });

  it('leaves no right, no way to get one back, and the person’s own number', async () => {
    const script = `id -u; cat /proc/self/uid_map; echo '0 0 1' > /proc/self/uid_map; for name in fd/0 exe cwd root; do readlink /proc/1/$name; done; grep ^Cap /proc/self/status | grep -v ':.0*$'`;
    const outcome = await mounted(machine, ['/bin/sh', '-c', script]);
    const uid = process.getuid?.();
    assert.match(outcome.stdout, new RegExp(`^${uid}\\n\\s+${uid}\\s+0\\s+1\\n$`));
  });

  it('keeps the umask of the command, and makes its own folders for everybody', async function () {
    // bubblewrap goes by the umask.
    if (!(await arena.launch(['true'])).argv.includes('--mounts')) this.skip();
    const startedBy = ['/bin/sh', '-c', 'umask 077; exec "$@"', 'sh'];
    const outcome = await arena.shell('umask; stat -c %a /run/cordon', { startedBy });
    assert.equal(outcome.stdout, '0077\n755\n');
  });

  it('makes the same /dev and /proc as bubblewrap', async function () {
    if (!(await arena.launch(['true'])).argv.includes('--mounts')) this.skip();
    const plain = new Arena({}, { mountedBy: 'bubblewrap' });
    const looked = async (by: Arena): Promise<string> => {
      const script = `find /dev -printf '%P %y %l %m %U\\n' | sort; ls /proc | grep -v '[0-9]'; cat /proc/self/mountinfo`;
      const lines = (await by.shell(script)).stdout.split('\n');
      const isMount = (line: string): boolean => /^\d+ \d+ /.test(line);
      const mounts = lines.filter(isMount).map((line) => line.split(' '));
      const onTop = new Map(
        mounts.map(([, , , root, path = '', flags]) => [path, `${path} ${root} ${flags}`]),
      );
      const own = [...onTop].filter(([path]) => /^\/dev\b/.test(path) && path !== '/dev/shm');
      return [...lines.filter((line) => !isMount(line)), ...own.map(([, text]) => text).sort()].join('\n');
    };
    try {
      const own = await looked(arena);
      assert.match(own, /^pts\/ptmx c {2}666 /m);
      assert.match(own, /^\/dev\/null \/null rw,nosuid,relatime$/m);
      assert.equal(own, await looked(plain));
    } finally {
      plain.dispose();
    }
  });

  it('cuts off what the machine mounts later', async function () {
    if (!isRoot) this.skip();
    const startedBy = ['unshare', '--mount', '--propagation', 'shared'];
    const attached = async (by: Arena): Promise<boolean> =>
      (await by.shell('cat /proc/self/mountinfo', { startedBy })).stdout.includes(' master:');
    const other = new Arena({}, { mountedBy: 'bubblewrap' });
    assert.equal(await attached(other), true);
    other.dispose();
    if ((await arena.launch(['true'])).argv.includes('--mounts')) {
      assert.equal(await attached(arena), false);
    }
  });
});
