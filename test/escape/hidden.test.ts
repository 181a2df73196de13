import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Access } from '../../src/sandbox/policy/fileRules.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { policyOf } from '../harness/policyOf.ts';
import type { Edit } from './harness.ts';
import { Arena, finished, removing, start, withoutMount } from './harness.ts';

const sh = (script: string): string[] => ['/bin/sh', '-c', script];

function rules(root: string, more: Readonly<Record<string, Access>>): SandboxPolicy['files'] {
  return Object.entries({ '/': 'read', [root]: 'write', ...more } as const).map(([path, access]) => ({
    path,
    access,
    source: 'user',
  }));
}

describe('A command cannot see what is hidden', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  beforeEach(() => void (arena = new Arena()));
  afterEach(() => arena.dispose());

  it('in a folder: neither names nor contents, nor by changing its mode', async () => {
    const folder = join(arena.root, 'secrets');
    mkdirSync(folder);
    writeFileSync(join(folder, 'key'), 'secret');
    const policy = policyOf(arena.root, { files: rules(arena.root, { [folder]: 'none' }) });
    const attack = sh('chmod 755 secrets; ls secrets; cat secrets/key; mv secrets x; cat x/key');
    assert.equal((await arena.run(attack, {}, policy)).stdout, '');
    const without = withoutMount(folder);
    assert.match((await arena.run(attack, { without }, policy)).stdout, /^key\nsecret/);
  });

  it('in a file, in place or moved with the folder above it', async () => {
    const file = join(arena.root, 'sub/.env');
    mkdirSync(join(arena.root, 'sub'));
    writeFileSync(file, 'secret');
    const hidden = [{ folder: arena.root, glob: '**/.env', source: 'user' }] as const;
    const policy = policyOf(arena.root, { hidden });
    const attack = sh('chmod 644 sub/.env; cat sub/.env; mv sub x; cat x/.env');
    assert.equal((await arena.run(attack, {}, policy)).stdout, '');
    assert.equal(readFileSync(file, 'utf8'), 'secret');
    const outcome = await arena.run(attack, { without: withoutMount(file) }, policy);
    assert.equal(outcome.stdout, 'secret');
  });

  // A command can bring them there by steps and by moving folders above them.
  const withoutPath: Readonly<Record<string, string>> = {
    'below a name that is not text': String.raw`mkdir -p a/$'\xff' && cd a/$'\xff'`,
    'below a path that is too long': `n=${'d'.repeat(200)}; for i in {1..25}; do mkdir -p $n && cd -P $n || exit; done`,
  };
  for (const [where, go] of Object.entries(withoutPath)) {
    it(where, async () => {
      execFileSync('/bin/bash', ['-c', `${go} && echo secret > .env`], { cwd: arena.root });
      const hidden = [{ folder: arena.root, glob: '**/.env', source: 'user' }] as const;
      const attack = ['/bin/bash', '-c', `${go} 2> /dev/null; cat .env`];
      assert.equal((await arena.run(attack, {}, policyOf(arena.root, { hidden }))).stdout, '');
      assert.equal((await arena.run(attack, {}, policyOf(arena.root))).stdout, 'secret\n');
      execFileSync('/bin/bash', ['-c', 'rm -r *'], { cwd: arena.root });
    });
  }

  it('through a link that a glob means, to a place that the rules show', async () => {
    const target = join(arena.outside, 'key');
    writeFileSync(target, 'secret');
    symlinkSync(target, join(arena.root, 'my.pem'));
    const hidden = [{ folder: arena.root, glob: '**/*.pem', source: 'user' }] as const;
    const policy = policyOf(arena.root, { hidden });
    const attack = sh(`cat my.pem; cat ${target}`);
    assert.equal((await arena.run(attack, {}, policy)).stdout, '');
    const outcome = await arena.run(attack, { without: withoutMount(target) }, policy);
    assert.equal(outcome.stdout, 'secretsecret');
  });

  it('by another name, which somebody gave it outside of the sandbox', async () => {
    const secrets = join(arena.outside, 'secrets');
    mkdirSync(secrets);
    writeFileSync(join(secrets, 'key'), 'secret');
    const name = join(arena.root, 'innocent');
    linkSync(join(secrets, 'key'), name);
    const policy = policyOf(arena.root, { files: rules(arena.root, { [secrets]: 'none' }) });
    const attack = sh('cat innocent; mv innocent x; cat x');
    assert.equal((await arena.run(attack, {}, policy)).stdout, '');
    const outcome = await arena.run(attack, { without: withoutMount(name) }, policy);
    assert.equal(outcome.stdout, 'secretsecret');
  });

  it('in a file that goes away while the command is started, and comes back', async function () {
    if (process.env['CORDON_MOUNTED_BY'] === 'bubblewrap') this.skip();
    const secret = join(arena.outside, 'secret');
    const policy = policyOf(arena.root, { files: rules(arena.root, { [secret]: 'none' }) });
    const script = `echo started; until test -e go; do sleep 0.01; done; cat ${secret}`;
    const during = async (without?: Edit): Promise<string> => {
      writeFileSync(secret, 'secret');
      rmSync(join(arena.root, 'go'), { force: true });
      const launch = await arena.launch(sh(script), {}, policy);
      rmSync(secret);
      const child = start(without?.(launch.argv) ?? launch.argv, launch.cwd, launch.env);
      const outcome = finished(child);
      await once(child.stdout ?? child, 'data');
      writeFileSync(secret, 'secret');
      // The guard has had its turn when the file shows as hidden; without it there is nothing to wait for.
      await new Promise((resolve) => setTimeout(resolve, without === undefined ? 200 : 0));
      writeFileSync(join(arena.root, 'go'), '');
      const { stdout } = await outcome;
      await launch.release();
      return stdout;
    };
    assert.equal(await during(), 'started\n');
    assert.equal(await during(removing('--hide', secret)), 'started\nsecret');
  });

  it('as the folder of a command, which is refused with the rule that hides it', async () => {
    const folder = join(arena.outside, 'secrets');
    mkdirSync(folder);
    const policy = policyOf(arena.root, { files: rules(arena.root, { [folder]: 'none' }) });
    const refused = await arena.manager.transform(policy, {
      argv: ['/bin/true'],
      cwd: folder,
      env: {},
      tty: false,
    });
    assert.ok(!refused.ok);
    assert.match(refused.error.message, /secrets is not visible in the sandbox: it is hidden by the rule/);
  });

  it('beside what is opened again further down', async () => {
    const folder = join(arena.root, 'a');
    mkdirSync(join(folder, 'b/c'), { recursive: true });
    writeFileSync(join(folder, 'key'), 'secret');
    const open = join(folder, 'b/c');
    const policy = policyOf(arena.root, { files: rules(arena.root, { [folder]: 'none', [open]: 'write' }) });
    const attack = sh('ls a; ls a/b; cat a/key; echo x > a/b/c/mine && ls a/b/c');
    assert.equal((await arena.run(attack, {}, policy)).stdout, 'mine\n');
    assert.ok(existsSync(join(open, 'mine')));
    assert.deepEqual(readdirSync(join(folder, 'b')), ['c']);
    const { stdout } = await arena.run(attack, { without: withoutMount(folder) }, policy);
    assert.match(stdout, /secret/);
  });

  it('in a home folder, except for what is opened, and leaves nothing in it', async () => {
    const home = join(arena.folder, 'home');
    mkdirSync(join(home, 'tools/bin'), { recursive: true });
    writeFileSync(join(home, 'tools/bin/tool'), 'tool');
    writeFileSync(join(home, 'key'), 'secret');
    const other = new Arena({}, { environment: { HOME: home } });
    try {
      const files = rules(other.root, { [home]: 'none', [join(home, 'tools/bin')]: 'read' });
      const policy = policyOf(other.root, { files });
      const attack = sh(`cd ${home}; ls -A; cat tools/bin/tool; cat key; mkdir x`);
      assert.equal((await other.run(attack, {}, policy)).stdout, 'tools\ntool');
      assert.deepEqual(readdirSync(home), ['key', 'tools']);
      const open = await other.run(attack, { without: withoutMount(home) }, policy);
      assert.match(open.stdout, /secret/);
    } finally {
      other.dispose();
    }
  });

  it('among the machine’s sockets, unless the policy names one', async () => {
    const path = join(arena.outside, 'service.sock');
    const server = createServer((connection) => connection.end('served'));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    try {
      chmodSync(path, 0o777);
      const attack = `require('net').connect(${JSON.stringify(path)}).on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))`;
      const argv = [process.execPath, '-e', attack];
      const policy = policyOf(arena.root);
      assert.equal((await arena.run(argv, {}, policy)).stdout, 'ECONNREFUSED\n');
      const without = withoutMount(path);
      assert.equal((await arena.run(argv, { without }, policy)).stdout, 'served\n');
      assert.equal((await arena.run(argv, {}, { ...policy, sockets: [path] })).stdout, 'served\n');
    } finally {
      server.close();
    }
  });
});
