import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGround } from '../../src/runtime/children/ground.ts';
import type { ExecBackend } from '../../src/runtime/exec/execBackend.ts';
import { WorkFolder } from '../../src/runtime/exec/workFolder.ts';
import { openRuntimeFolder } from '../../src/sandbox/linux/runtimeFolder.ts';
import type { RuleSet } from '../../src/sandbox/rules/rule.ts';
import { noRules } from '../../src/sandbox/rules/rule.ts';
import type { Command, SandboxManager } from '../../src/sandbox/sandboxManager.ts';
import type { LocalPrograms } from '../harness/localEnvironment.ts';
import { createLocalPrograms } from '../harness/localEnvironment.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TestRuntime } from '../harness/testRuntime.ts';
import { createTestRuntime, testPolicy } from '../harness/testRuntime.ts';
import { waitFor } from '../harness/waitFor.ts';

type Change = (command: Command) => Command;

/** A sandbox that starts other commands than it is told to. */
const changing =
  (change: Change) =>
  (sandbox: SandboxManager): SandboxManager => ({
    ...sandbox,
    transform: (policy, command) => sandbox.transform(policy, change(command)),
  });

/** Believes that a script can change nothing. */
const trusting: Change = ({ door, ...command }) => ({
  ...command,
  ...(door && {
    door: { ...door, accept: (connection) => door.accept(connection, { isHeld: async () => true }) },
  }),
});

/** Changes the environment of what runs apart from its script. */
const apart =
  (change: (env: Command['env']) => Command['env']): Change =>
  (command) =>
    command.adoptsStreams === true ? { ...command, env: change(command.env) } : command;

function allowing(...words: readonly string[]): RuleSet {
  return {
    ...noRules,
    prefixes: [
      {
        pattern: words.map((word) => [word]),
        decision: 'allow',
        runs: 'outside',
        origin: { source: 'user', place: 'test.rules:1' },
      },
    ],
  };
}

describe('A script cannot make an allowed part of it run its own code', function () {
  this.timeout(120_000);
  let outside: TemporaryFolder;
  const runtimes: TestRuntime[] = [];
  beforeEach(async () => (outside = await createTemporaryFolder('outside')));
  afterEach(async () => {
    await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose()));
    await outside.dispose();
  });

  async function setUp(
    rules: RuleSet,
    { change, files = {}, path = [] }: { change?: Change; files?: object; path?: readonly string[] } = {},
  ): Promise<TestRuntime> {
    const test = await createTestRuntime(
      { files: { [outside.path]: 'read', ...files } },
      { ...process.env, PATH: [...path, process.env['PATH']].join(':') },
      { rules, ...(change && { changeSandbox: changing(change) }) },
    );
    runtimes.push(test);
    return test;
  }

  async function run(test: TestRuntime, ...lines: readonly string[]): Promise<string> {
    const script = join(test.root, 'work.sh');
    await writeFile(script, `${lines.join('\n')}\n`);
    return (await test.call('exec_command', { cmd: 'bash work.sh', login: false, yield_time_ms: 30_000 }))
      .text;
  }

  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=t@example.org', ...args], {
      cwd,
      encoding: 'utf8',
    });
  function repository(test: TestRuntime): string {
    const bare = join(outside.path, 'bare.git');
    git(outside.path, 'init', '-q', '--bare', bare);
    git(test.root, 'init', '-q', '-b', 'main');
    git(test.root, 'commit', '-q', '--allow-empty', '-m', 'First.');
    return bare;
  }
  const loot = (): string => join(outside.path, 'loot');
  const isLooted = (): boolean => existsSync(loot());
  const plunder = (): string => `touch ${loot()}`;

  it('by a program of the same name on the search path of the runtime', async () => {
    const bin = join(outside.path, 'bin');
    await mkdir(bin);
    const attack = async (change?: Change): Promise<void> => {
      const options = { files: { [bin]: 'write' }, path: [bin], ...(change && { change }) };
      const test = await setUp(allowing('uname'), options);
      await run(test, `printf '#!/bin/sh\n${plunder()}\n' > ${bin}/uname`, `chmod +x ${bin}/uname`, 'uname');
    };
    await attack();
    assert.equal(isLooted(), false);
    await attack(trusting);
    assert.equal(isLooted(), true);
  });

  it('by a program in an open folder', async () => {
    const test = await setUp(noRules);
    const program = join(test.root, 'uname');
    await writeFile(program, '');
    await chmod(program, 0o755);
    const policy = testPolicy(test.root);
    const root = { name: 'root', path: test.root };
    const script = { root, policy, cwd: test.root, commandLine: '', session: 1, owner: '' };
    const find = (roots: readonly string[]) =>
      findGround(
        { argv: ['uname'], cwd: test.root, isTerminal: false },
        {
          script: { ...script, widenings: [], agreed: [] },
          sandbox: { isHeld: async () => true },
          searchPath: `${test.root}:/usr/bin`,
          roots,
        },
      );
    const [safe, unsafe] = [await find([test.root]), await find([])];
    assert.ok(safe.ok && unsafe.ok);
    assert.equal(safe.value.program, '/usr/bin/uname');
    assert.equal(unsafe.value.program, program);
    await Promise.all([safe, unsafe].map(({ value }) => value.folder.close()));
  });

  it('by a repository that it makes', async () => {
    const attack = async (change?: Change): Promise<string> => {
      const test = await setUp(allowing('git', 'push'), change && { change });
      return run(
        test,
        'mkdir made && cd made && git init -q -b main && git config user.name T && git config user.email t@e',
        `git commit -q --allow-empty -m F && git config core.sshCommand '${plunder()};'`,
        'git push ssh://localhost/nowhere main; echo "ended $?"',
      );
    };
    assert.match(await attack(), /ended 128/);
    assert.equal(isLooted(), false);
    assert.match(await attack(trusting), /ended 128/);
    assert.equal(isLooted(), true);
  });

  it('by a file of the workspace that a hook runs', async () => {
    const attack = async (change?: Change): Promise<string> => {
      const test = await setUp(allowing('git', 'push'), change && { change });
      const bare = repository(test);
      const hook = join(test.root, '.git/hooks/pre-push');
      await writeFile(hook, '#!/bin/sh\nsh ./check.sh\n');
      await chmod(hook, 0o755);
      const text = await run(test, `echo '${plunder()}' > check.sh`, `git push ${bare} main`);
      execFileSync('rm', ['-rf', bare]);
      return text;
    };
    assert.match(await attack(), /main -> main/);
    assert.equal(isLooted(), false);
    const withoutPins = apart((env) =>
      Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_CONFIG'))),
    );
    assert.match(await attack(withoutPins), /main -> main/);
    assert.equal(isLooted(), true);
  });

  for (const [name, value] of [
    ['GIT_SSH_COMMAND', 'touch LOOT;'],
    ['GIT_EXEC_PATH', 'BIN'],
    ['GIT_CONFIG_PARAMETERS', "'core.sshCommand=touch LOOT;'"],
  ] as const) {
    it(`by the variable ${name}`, async () => {
      const bin = join(outside.path, 'exec');
      await mkdir(bin);
      await writeFile(join(bin, 'git-remote-https'), `#!/bin/sh\n${plunder()}\n`);
      await chmod(join(bin, 'git-remote-https'), 0o755);
      const given = value.replace('LOOT', loot()).replace('BIN', bin);
      const attack = async (change?: Change): Promise<string> => {
        const test = await setUp(allowing('git', 'push'), change && { change });
        repository(test);
        const text = await run(
          test,
          `export ${name}="${given}"`,
          `git push ${name === 'GIT_EXEC_PATH' ? 'https' : 'ssh'}://localhost:1/nowhere main`,
        );
        execFileSync('rm', ['-rf', join(outside.path, 'bare.git')]);
        return text;
      };
      await attack();
      assert.equal(isLooted(), false);
      await attack(apart((env) => ({ ...env, [name]: given })));
      assert.equal(isLooted(), true);
    });
  }

  it('by variables for the loader, or any others of its own', async () => {
    const test = await setUp(allowing('env'));
    const text = await run(test, 'export LD_LIBRARY_PATH=/nonexistent SMUGGLED=1', 'env; env -i A=1 env');
    assert.doesNotMatch(text, /LD_LIBRARY_PATH|SMUGGLED/);
    const control = await setUp(allowing('env'), { change: apart((env) => ({ ...env, SMUGGLED: '1' })) });
    assert.match(await run(control, 'env'), /SMUGGLED=1/);
  });

  it('by words that name another repository or a program', async () => {
    const test = await setUp(allowing('git'));
    const bare = repository(test);
    await run(
      test,
      `mkdir -p other && git init -q other && git -C other config core.sshCommand '${plunder()};'`,
      `git -c core.sshCommand='${plunder()};' push ssh://localhost/nowhere main`,
      'git -C other push ssh://localhost/nowhere main',
      `git push --receive-pack='${plunder()};' ${bare} main`,
      `git push --receive='${plunder()};' ${bare} main`,
      `git push 'ext::sh -c "${plunder()}"' main`,
    );
    assert.equal(isLooted(), false);
    // The same words do it where nothing confines them.
    const words = ['push', '-q', `--receive-pack=${plunder()};`, bare, 'main'];
    // What runs instead of git's own program speaks no word of its language.
    assert.throws(() => execFileSync('git', words, { cwd: test.root, stdio: 'ignore' }));
    assert.equal(isLooted(), true);
  });

  it('under another name than its own', async () => {
    const asked: string[] = [];
    const rules = allowing('git', 'push');
    const test = await setUp({
      ...rules,
      prefixes: rules.prefixes.map((one) => ({ ...one, decision: 'prompt' })),
    });
    const bare = repository(test);
    test.approvals.onDidAsk(({ id, commandLine }) => {
      asked.push(commandLine);
      void test.approvals.answer(id, { kind: 'deny', by: 'person' });
    });
    await run(test, `(exec -a harmless git push ${bare} 'a\nb'); /run/cordon/parts/../parts/git push`);
    assert.deepEqual(asked, [`git push ${bare} 'a\nb'`, 'git push']);
  });
});

for (const where of ['in this process', 'in the server of this machine']) {
  describe(`A script cannot misuse the door for its parts ${where}`, function () {
    this.timeout(120_000);
    let programs: LocalPrograms;
    let backend: ExecBackend | undefined;
    let test: TestRuntime;
    before(async () => {
      programs = await createLocalPrograms();
      backend = where === 'in this process' ? undefined : programs.open().backend;
    });
    after(() => programs.dispose());
    beforeEach(async () => {
      test = await createTestRuntime({}, process.env, {
        rules: allowing('uname'),
        ...(backend && { backend }),
      });
    });
    afterEach(() => test.dispose());

    /** A client of its own, in the sandbox: connects for each list of frames and prints what comes back. */
    const client = `
    const { connect } = require('node:net');
    const frame = (letter, rest) => {
      const body = Buffer.concat([Buffer.from(letter), Buffer.from(rest)]);
      const size = Buffer.alloc(4);
      size.writeUInt32LE(body.length);
      return Buffer.concat([size, body]);
    };
    const ask = (...words) => frame('A', 'p' + words.map((word) => word + '\\0').join(''));
    const talk = (bytes, name) => new Promise((resolve) => {
      const socket = connect('/run/cordon/parts.sock');
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk.subarray(4).toString('latin1');
        if (answer[0] === 'E') socket.destroy();
      });
      socket.on('error', () => {});
      socket.on('close', () => { console.log(name + ': ' + (answer[0] ?? 'nothing')); resolve(answer.slice(1)); });
      socket.write(bytes);
    });`;
    async function attack(code: string): Promise<string> {
      await writeFile(join(test.root, 'attack.cjs'), `${client}\n(async () => { ${code} })();`);
      const cmd = '"$CORDON_NODE" attack.cjs; uname';
      return (await test.call('exec_command', { cmd, login: false, yield_time_ms: 30_000 })).text;
    }

    it('by forged frames', async () => {
      const text = await attack(`
      await talk(Buffer.alloc(1000, 255), 'garbage');
      await talk(frame('A', ''), 'empty');
      await talk(frame('S', '\\x09'), 'signal first');
      await talk(frame('H', 'f'.repeat(32)), 'streams for nobody');
      await talk(ask(process.cwd(), process.cwd() + '/uname'), 'path');
      await talk(ask(process.cwd(), '../uname'), 'relative path');
      await talk(ask('/etc', 'uname'), 'elsewhere');
      await talk(ask(process.cwd() + '/..', 'uname'), 'above');
      await talk(Buffer.concat([ask(process.cwd(), 'uname'), frame('S', '\\x09')]), 'forbidden signal');
      await talk(ask(process.cwd(), 'uname'), 'honest');`);
      for (const name of ['garbage', 'signal first', 'streams for nobody']) {
        assert.match(text, new RegExp(`${name}: nothing`), text);
      }
      for (const name of ['empty', 'path', 'relative path', 'elsewhere', 'above']) {
        assert.match(text, new RegExp(`${name}: R`), text);
      }
      assert.match(text, /forbidden signal: (nothing|E)/);
      assert.match(text, /honest: E[^]*Linux/);
    });

    it('by connecting twice with the word for its streams', async () => {
      const text = await attack(`
      const key = await new Promise((resolve) => {
        const socket = connect('/run/cordon/parts.sock');
        socket.on('data', (chunk) => resolve(chunk.subarray(5, 37).toString('latin1')));
        socket.on('error', () => {});
        socket.write(ask(process.cwd(), 'uname'));
      });
      const first = connect('/run/cordon/parts.sock');
      await new Promise((resolve) => {
        first.on('data', (chunk) => resolve(console.log('first got ' + chunk.length)));
        first.write(frame('H', key));
      });
      await talk(frame('H', key), 'second');
      process.exit();`);
      assert.match(text, /first got 1\n[^]*second: nothing/);
    });

    it('of another session', async () => {
      const folder = openRuntimeFolder(process.env, tmpdir());
      assert.ok(folder.ok);
      const doors = (): readonly string[] =>
        readdirSync(folder.value).filter((name) => name.startsWith('part-'));
      const before = doors();
      const session = await test.open('sleep 60', { login: false });
      const path = join(realpathSync(folder.value), doors().find((name) => !before.includes(name)) ?? '');
      const text = await attack(`
      const socket = connect(${JSON.stringify(path)});
      socket.on('error', ({ code }) => console.log('other: ' + code));
      socket.on('connect', () => { console.log('other: reached'); socket.destroy(); });`);
      assert.match(text, /other: (ENOENT|EACCES)/);
      const isReached = await new Promise((resolve) => {
        const socket = connect(path);
        socket.once('error', () => resolve(false));
        socket.once('connect', () => resolve(true));
        socket.once('connect', () => socket.destroy());
      });
      assert.equal(isReached, true);
      await session.terminate();
    });

    it('by thousands of connections that say nothing, or nothing but garbage', async () => {
      const text = await attack(`
      let away = 0;
      const silent = Array.from({ length: 3000 }, () => connect('/run/cordon/parts.sock'));
      silent.forEach((socket) => socket.on('error', () => {}).on('close', () => away++));
      while (away < 3000 - 256) await new Promise((resolve) => setTimeout(resolve, 10));
      console.log('left: ' + (3000 - away));
      silent.forEach((socket) => socket.destroy());
      for (let round = 0; round < 20; round++) {
        await Promise.all(Array.from({ length: 100 }, () => new Promise((resolve) =>
          connect('/run/cordon/parts.sock').on('error', () => {}).on('close', resolve).write(Buffer.alloc(100_000, round)))));
      }
      await talk(ask(process.cwd(), 'uname'), 'honest');`);
      assert.match(text, /left: (1?\d?\d|2[0-4]\d|25[0-6])\n[^]*honest: E[^]*Linux/);
    });

    it('by a question that does not end, however small its pieces', async () => {
      const text = await attack(`
      const whole = ask(process.cwd(), 'uname', 'x'.repeat(100_000));
      await Promise.all([
        talk(whole.subarray(0, 30), 'half'),
        talk(whole.subarray(0, 2), 'half of a size'),
        talk('', 'silence'),
        new Promise((resolve) => {
          const socket = connect('/run/cordon/parts.sock');
          socket.on('error', () => {}).on('close', resolve);
          socket.on('close', () => console.log('drops: nothing'));
          let at = 0;
          const drip = () => socket.destroyed || socket.write(whole.subarray(at++, at), () => setTimeout(drip, 20));
          drip();
        }),
      ]);
      await talk(ask(process.cwd(), 'uname'), 'honest');`);
      for (const name of ['half', 'half of a size', 'silence', 'drops']) {
        assert.match(text, new RegExp(`${name}: nothing`), text);
      }
      assert.match(text, /honest: E[^]*Linux/);
    });
  });
}

describe('A script cannot move the folder of a part away', function () {
  this.timeout(120_000);

  it('while the person is asked', async () => {
    const rules = allowing('pwd');
    const test = await createTestRuntime({}, process.env, {
      rules: { ...rules, prefixes: rules.prefixes.map((one) => ({ ...one, decision: 'prompt' })) },
    });
    try {
      await mkdir(join(test.root, 'sub'));
      await writeFile(
        join(test.root, 'work.sh'),
        'cd sub; env pwd & while [ ! -e ../asked ]; do sleep 0.05; done; mv ../sub ../gone; ln -s / ../sub; touch ../moved; wait $!; echo "ended $?"\n',
      );
      test.approvals.onDidAsk(({ id, offers }) => {
        const leave = offers.find((offer) => offer.id === 'unsandboxed');
        assert.ok(leave);
        void (async () => {
          await writeFile(join(test.root, 'asked'), '');
          await waitFor('the swap', () => existsSync(join(test.root, 'moved')));
          await test.approvals.answer(id, leave.answer);
        })();
      });
      const input = { cmd: 'bash work.sh', login: false, yield_time_ms: 30_000 };
      assert.match((await test.call('exec_command', input)).text, /not the one any more[^]*ended 126/);
    } finally {
      await test.dispose();
    }
  });

  it('between the last look and the start', async () => {
    const folder = await createTemporaryFolder('folder');
    const [sub, decoy] = [join(folder.path, 'sub'), join(folder.path, 'decoy')];
    await Promise.all([mkdir(sub), mkdir(decoy)]);
    const held = await WorkFolder.open(sub);
    assert.ok(held !== undefined && (await held.isInPlace()));
    await rename(sub, join(folder.path, 'gone'));
    await symlink(decoy, sub);
    const pwd = (cwd: string): string => execFileSync('/bin/pwd', ['-P'], { cwd, encoding: 'utf8' }).trim();
    assert.equal(pwd(held.place), join(folder.path, 'gone'));
    assert.equal(pwd(held.path), decoy);
    assert.equal(await held.isInPlace(), false);
    const programs = await createLocalPrograms();
    const { backend } = programs.open();
    const policy = testPolicy('/', { mode: 'danger-full-access' });
    const start = (more: object) => backend.start({ argv: ['/bin/pwd'], cwd: sub, env: {}, policy, ...more });
    const refused = await start({ folder: held.identity });
    assert.match(refused.ok ? '' : refused.error.message, /is not the one any more/);
    assert.equal((await start({})).ok, true);
    await programs.dispose();
    await held.close();
    await folder.dispose();
  });
});
