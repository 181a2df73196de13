import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxManagerOptions } from '../../src/sandbox/createSandboxManager.ts';
import { findBubblewrap } from '../../src/sandbox/linux/bubblewrap/findBubblewrap.ts';
import type { SandboxError } from '../../src/sandbox/sandboxManager.ts';
import { Arena } from './harness.ts';

/** Plants an executable `bwrap` and returns its folder. */
function plant(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho planted\n');
  chmodSync(join(bin, 'bwrap'), 0o755);
  return bin;
}

describe('A bubblewrap of the workspace is not used', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('when it comes first on PATH, directly or through a link', async () => {
    const searchPath = process.env['PATH'] ?? '';
    const probe = new Arena();
    try {
      const bin = plant(probe.root);
      const elsewhere = join(probe.outside, 'bin');
      symlinkSync(bin, elsewhere);
      const path = `bin:${elsewhere}:${bin}:${searchPath}`;
      assert.equal(findBubblewrap(path, []), join(bin, 'bwrap'));
      assert.notEqual(findBubblewrap(path, [probe.root]), join(bin, 'bwrap'));
      assert.equal(findBubblewrap(`bin:${elsewhere}:${bin}`, [probe.root]), undefined);
    } finally {
      probe.dispose();
    }
  });

  it('when the root was opened after bubblewrap was found', async () => {
    const arena = new Arena(
      {},
      { untrustedFolders: () => [], run: async () => ({ exitCode: 0, stdout: '', stderr: '' }) },
    );
    try {
      const bin = plant(arena.root);
      const late = new Arena(
        {},
        {
          searchPath: bin,
          untrustedFolders: () => [],
          run: async () => ({ exitCode: 0, stdout: '', stderr: '' }),
        },
      );
      const result = await late.manager.transform(arena.policy(), {
        argv: ['true'],
        cwd: arena.root,
        env: {},
        tty: false,
      });
      late.dispose();
      assert.ok(!result.ok && result.error.kind === 'bubblewrap-missing');
    } finally {
      arena.dispose();
    }
  });
});

describe('Nothing runs when the sandbox cannot start:', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  const failing = (stderr: string): Partial<SandboxManagerOptions> => ({
    run: async (_, args) => ({ exitCode: args.includes('--help') ? 0 : 1, stdout: '', stderr }),
  });
  const table: readonly (readonly [string, Partial<SandboxManagerOptions>, SandboxError['kind'], RegExp])[] =
    [
      [
        'bubblewrap is not installed',
        { searchPath: '/nonexistent' },
        'bubblewrap-missing',
        /apt install bubblewrap/,
      ],
      ['the companion is missing', { helperPath: '/nonexistent/launch' }, 'helper-missing', /npm run build/],
      ['this is WSL 1', { kernelVersion: '4.4.0-19041-Microsoft' }, 'wsl1', /WSL 2/],
      ['this is macOS', { platform: 'darwin' }, 'platform-unsupported', /Linux/],
      ['this is Windows', { platform: 'win32' }, 'platform-unsupported', /Linux/],
      ['this is another platform', { platform: 'freebsd' }, 'platform-unsupported', /Linux/],
      [
        'it fails for an unknown reason',
        failing('bwrap: something new'),
        'bubblewrap-failed',
        /bwrap --ro-bind/,
      ],
    ];
  for (const [what, options, kind, hint] of table) {
    it(what, async () => {
      const arena = new Arena({}, options);
      try {
        const command = { argv: ['true'], cwd: arena.root, env: {}, tty: false };
        for (const result of [
          (await arena.manager.check()).launcherFor(arena.policy()),
          await arena.manager.transform(arena.policy(), command),
        ]) {
          assert.ok(!result.ok);
          assert.equal(result.error.kind, kind);
          assert.match(result.error.hint, hint);
        }
        const open = await arena.manager.transform(arena.policy({ mode: 'danger-full-access' }), command);
        assert.ok(open.ok && open.value.sandbox === 'none');
      } finally {
        arena.dispose();
      }
    });
  }

  it('a check is remembered until it is refreshed', async () => {
    const state = { calls: 0 };
    const arena = new Arena({}, { run: async () => ({ exitCode: state.calls++, stdout: '', stderr: '' }) });
    try {
      const first = (await arena.manager.check()).launcherFor(arena.policy());
      const { calls } = state;
      assert.deepEqual((await arena.manager.check()).launcherFor(arena.policy()), first);
      assert.equal(state.calls, calls);
      await arena.manager.check(true);
      assert.ok(state.calls > calls);
    } finally {
      arena.dispose();
    }
  });

  it('a WSL 2 kernel is not taken for WSL 1', async () => {
    const arena = new Arena({}, { kernelVersion: '5.15.167.4-microsoft-standard-WSL2' });
    try {
      assert.ok((await arena.manager.check()).launcherFor(arena.policy()).ok);
    } finally {
      arena.dispose();
    }
  });

  for (const folder of ['/proc', '/dev/shm', '/sys', '/run']) {
    it(`${folder} is made a writable root`, async () => {
      const arena = new Arena({ writableRoots: [folder] });
      try {
        const command = { argv: ['true'], cwd: arena.root, env: {}, tty: false };
        const result = await arena.manager.transform(arena.policy(), command);
        assert.ok(!result.ok && result.error.kind === 'clause-unenforceable');
      } finally {
        arena.dispose();
      }
    });
  }
});
