import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openPrivateCaches } from '../../src/sandbox/linux/cacheFolder.ts';
import type { Access } from '../../src/sandbox/policy/fileRules.ts';
import { toolCaches } from '../../src/sandbox/policy/files/toolCaches.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { policyOf } from '../harness/policyOf.ts';
import { Arena, replacingMount, withoutMount } from './harness.ts';

const sh = (script: string): string[] => ['/bin/sh', '-c', script];

describe('Private caches', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let home: Arena;
  let one: Arena;
  let two: Arena;
  beforeEach(() => {
    home = new Arena();
    [one, two] = [0, 1].map(() => new Arena({}, { environment: { HOME: home.root } })) as [Arena, Arena];
  });
  afterEach(() => [home, one, two].forEach((arena) => arena.dispose()));

  function policy({ root }: Arena, access: Access = 'none'): SandboxPolicy {
    const rules = { '/': 'read', [root]: 'write', [home.root]: access } as const;
    return policyOf(root, {
      files: Object.entries<Access>(rules).map(([path, granted]) => ({
        path,
        access: granted,
        source: 'user',
      })),
      caches: 'private',
    });
  }

  /** What lies in the caches of an arena's root, outside of the sandbox. */
  function cachesOf({ root }: Arena): string {
    const caches = openPrivateCaches(join(home.root, '.cache/cordon'), root, toolCaches);
    assert.ok(caches.ok);
    return caches.value;
  }

  it('belong to one root, stay, and show nothing of the person’s but programs', async () => {
    mkdirSync(join(home.root, '.cargo/bin'), { recursive: true });
    writeFileSync(join(home.root, '.cargo/bin/cargo'), 'program');
    writeFileSync(join(home.root, '.cargo/credentials.toml'), 'secret');
    const write = sh(
      `cd ${home.root}; ls -A .cargo; cat .cargo/bin/cargo; echo x > .cargo/bin/cargo; echo kept > .npm/mine`,
    );
    assert.equal((await one.run(write, {}, policy(one))).stdout, 'bin\nprogram');
    const look = sh(`cat ${home.root}/.npm/mine; ls -A ${home.root}/.cache/cordon`);
    assert.equal((await one.run(look, {}, policy(one))).stdout, 'kept\n');
    assert.deepEqual(readdirSync(home.root).sort(), ['.cache', '.cargo']);
    assert.equal(readFileSync(join(home.root, '.cargo/bin/cargo'), 'utf8'), 'program');
    assert.equal((await two.run(look, {}, policy(two))).stdout, '');
    // The same with the other root's folder bound in.
    const npm = `${home.root}/.npm`;
    const without = replacingMount(npm, { path: npm, kind: 'write', source: join(cachesOf(one), '.npm') });
    assert.equal((await two.run(look, { without }, policy(two))).stdout, 'kept\n');
  });

  it('show programs that are linked from elsewhere, unless something there is hidden', async () => {
    const bin = join(home.outside, 'bin');
    mkdirSync(bin);
    mkdirSync(join(home.root, '.cargo'));
    writeFileSync(join(bin, 'cargo'), 'program');
    writeFileSync(join(bin, 'key'), 'secret');
    symlinkSync(bin, join(home.root, '.cargo/bin'));
    const look = sh(`cat ${home.root}/.cargo/bin/*; touch ${home.root}/.cargo/bin/made`);
    const shown = policy(one);
    assert.equal((await one.run(look, {}, shown)).stdout, 'programsecret');
    assert.deepEqual(readdirSync(bin), ['cargo', 'key']);
    for (const path of [bin, join(bin, 'key')]) {
      const files = [...shown.files, { path, access: 'none', source: 'user' } as const];
      assert.equal((await one.run(look, {}, { ...shown, files })).stdout, '');
    }
  });

  it('cannot be reached where they really are, even in a home that is visible', async () => {
    const cache = join(home.outside, 'cordon');
    const environment = { HOME: home.root, XDG_CACHE_HOME: home.outside };
    const arenas = [0, 1].map(() => new Arena({}, { environment })) as [Arena, Arena];
    try {
      const [first, second] = arenas;
      mkdirSync(join(home.root, '.npm'));
      const write = sh(`echo kept > ${home.root}/.npm/mine`);
      assert.equal((await first.run(write, {}, policy(first, 'read'))).exitCode, 0);
      const attack = sh(`cat ${cache}/caches/*/.npm/mine`);
      assert.equal((await second.run(attack, {}, policy(second, 'read'))).stdout, '');
      const without = withoutMount(cache);
      assert.equal((await second.run(attack, { without }, policy(second, 'read'))).stdout, 'kept\n');
    } finally {
      arenas.forEach((arena) => arena.dispose());
    }
  });

  it('are none for an account without a home, which is not made either', async () => {
    const missing = join(home.root, 'none/home');
    const arena = new Arena({}, { environment: { HOME: missing } });
    try {
      const { exitCode } = await arena.run(['/bin/true'], {}, policyOf(arena.root, { caches: 'private' }));
      assert.equal(exitCode, 0);
      assert.ok(!existsSync(dirname(missing)));
    } finally {
      arena.dispose();
    }
  });

  describe('are found in the hidden home by', () => {
    const project = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n';
    const tools: Readonly<Record<string, ToolCheck>> = {
      npm: {
        where: 'command -v npm',
        script: 'npm cache verify',
        says: /\(~\/\.npm\/_cacache\)/,
        leaves: '.npm/_cacache/_lastverified',
      },
      pip: {
        where: 'python3 -m pip --version >&2 && command -v python3',
        script:
          'place=$(python3 -m pip cache dir) && echo "$place" && mkdir -p "$place" && : > "$place/mine"',
        says: /\/root\/\.cache\/pip\n/,
        leaves: '.cache/pip/mine',
      },
      cargo: {
        where: 'rustup which cargo || command -v cargo',
        script: `mkdir src && : > src/lib.rs && printf '${project.replaceAll('\n', '\\n')}' > Cargo.toml && cargo fetch --offline && ls -A ~/.cargo`,
        says: /\.package-cache/,
        leaves: '.cargo/.package-cache',
      },
    };
    for (const [tool, { where, script, says, leaves }] of Object.entries(tools)) {
      it(tool, async function () {
        const program = located(where);
        if (program === undefined) this.skip();
        const env = { HOME: home.root, PATH: `${dirname(program)}:${process.env['PATH'] ?? ''}` };
        const outcome = await one.run(sh(script), { env }, policy(one));
        assert.equal(outcome.exitCode, 0, outcome.stderr);
        assert.match(outcome.stdout, says);
        assert.ok(existsSync(join(cachesOf(one), leaves)));
        assert.ok(!existsSync(join(cachesOf(two), leaves)));
        assert.deepEqual(readdirSync(home.root), ['.cache']);
      });

      it(`${tool}, which finds none where they are off`, async function () {
        const program = located(where);
        if (program === undefined) this.skip();
        const env = { HOME: home.root, PATH: `${dirname(program)}:${process.env['PATH'] ?? ''}` };
        const off = { ...policy(one), caches: 'off' } as const;
        await one.run(sh(script), { env }, off);
        assert.deepEqual(readdirSync(home.root), []);
      });
    }
  });
});

interface ToolCheck {
  /** Prints where the program is, if this machine has it. */
  readonly where: string;
  readonly script: string;
  readonly says: RegExp;
  /** Below the root's caches. */
  readonly leaves: string;
}

function located(where: string): string | undefined {
  try {
    return execFileSync('/bin/sh', ['-c', where], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split('\n')
      .at(-1);
  } catch {
    // Not on this machine.
    return undefined;
  }
}
