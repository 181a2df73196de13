import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { silentLog } from '../../../src/base/log.ts';
import type { EnvironmentError } from '../../../src/runtime/environments/environment.ts';
import { dialSsh } from '../../../src/runtime/environments/ssh/dialSsh.ts';
import type { ServerBundle } from '../../../src/runtime/environments/ssh/serverBundle.ts';
import { readServerBundle } from '../../../src/runtime/environments/ssh/serverBundle.ts';
import type { SshSettings } from '../../../src/runtime/environments/ssh/sshSettings.ts';
import { StreamInput } from '../../../src/runtime/environments/ssh/streamInput.ts';
import type { SshServer } from '../../harness/sshServer.ts';
import { startSshServer } from '../../harness/sshServer.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

/** A server that answers each line with its own process id and the line. */
const echoServer = `
const { createServer } = require('node:net');
const path = process.argv[process.argv.indexOf('--listen') + 1].slice('unix:'.length);
require('node:fs').rmSync(path, { force: true });
const server = createServer((socket) => {
  socket.on('error', () => {}).on('data', (line) => socket.write(process.pid + ' ' + line));
});
const end = () => server.getConnections((_, count) => count === 0 && process.exit());
setInterval(end, 5_000);
server.listen(path, () => console.log('unix:' + path));
`;

describe('the server on a host', () => {
  let server: SshServer;
  let dist: TemporaryFolder;
  let bundle: ServerBundle;
  let installed: string;
  let hostProgram: Buffer;

  before(async () => {
    hostProgram = await readFile(join(import.meta.dirname, '../../../dist/cli/sshHost.js'));
    server = await startSshServer({ profile: 'echo "Welcome to this machine"; echo; echo -n "no line end"' });
    dist = await createTemporaryFolder('dist');
    await fillDist(dist.path);
    bundle = await readServerBundle(dist.path, '1.2.3');
    installed = join(server.home, '.cache/cordon/server', bundle.name);
  });
  after(async () => {
    await server.dispose();
    await dist.dispose();
  });

  async function dial(settings: Partial<SshSettings> = {}): Promise<string | EnvironmentError> {
    const dialled = await dialSsh({
      settings: { host: server.host, folder: '/', sshPath: server.sshPath, ...settings },
      bundle,
      hostProgram,
      log: silentLog,
    });
    if (!dialled.ok) {
      return dialled.error;
    }
    const { input, output, close } = dialled.value;
    input.write('hello\n');
    const answer = await new StreamInput(output).line(1_000);
    close();
    return answer;
  }

  async function assertServes(settings: Partial<SshSettings> = {}): Promise<void> {
    const answer = await dial(settings);
    assert.ok(typeof answer === 'string' && /^\d+ hello$/.test(answer), JSON.stringify(answer));
  }

  async function assertFails(
    settings: Partial<SshSettings>,
    kind: EnvironmentError['kind'],
    message: RegExp,
  ): Promise<void> {
    const error = await dial(settings);
    assert.ok(typeof error === 'object', 'it connected');
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, message);
    assert.notEqual(error.hint, '');
  }

  beforeEach(async () => {
    await rm(join(server.home, '.cache'), { recursive: true, force: true });
  });

  it('is installed with the first connection, and is there for the second', async () => {
    await assertServes();
    assert.equal(await readFile(join(installed, 'cli.js'), 'utf8'), echoServer);
    const before = await readdir(installed);
    await chmod(installed, 0o500); // a second installation would fail
    await assertServes();
    assert.deepEqual(await readdir(installed), before);
    await chmod(installed, 0o700);
    assert.deepEqual(await readdir(join(server.home, '.cache/cordon/server')), [bundle.name]);
  });

  it('is the same one for two connections', async () => {
    const [one, other] = await Promise.all([dial(), dial()]);
    assert.match(JSON.stringify(one), /hello/);
    assert.match(JSON.stringify(other), /hello/);
    assert.equal(await dial(), await dial());
  });

  for (const [what, tamper] of [
    ['a file was changed', async (folder) => writeFile(join(folder, 'cli.js'), 'process.exit(66)')],
    ['a file is missing', async (folder) => rm(join(folder, 'bin/apply_patch'))],
    ['a file was added', async (folder) => writeFile(join(folder, 'node_modules/node-pty/evil.node'), '')],
    ['a file became a link', replaceByLink],
    ['the folder is open to others', async (folder) => chmod(folder, 0o777)],
    ['a folder in it is open to others', async (folder) => chmod(join(folder, 'bin'), 0o777)],
    ['a file is open to others', async (folder) => chmod(join(folder, 'cli.js'), 0o666)],
    ['a program cannot be executed', async (folder) => chmod(join(folder, 'bin/apply_patch'), 0o600)],
    ['only half of it is there', halve],
  ] as const satisfies readonly (readonly [string, (folder: string) => Promise<void>])[]) {
    it(`is installed anew when ${what}`, async () => {
      await assertServes();
      await tamper(installed);
      await assertServes();
      assert.equal(await readFile(join(installed, 'cli.js'), 'utf8'), echoServer);
      assert.deepEqual(await readdir(join(server.home, '.cache/cordon/server')), [bundle.name]);
    });
  }

  it('takes others away that were not used for weeks, and nothing else', async () => {
    const all = join(server.home, '.cache/cordon/server');
    const made = async (name: string, days: number): Promise<void> => {
      await mkdir(join(all, name), { recursive: true, mode: 0o700 });
      const time = Date.now() / 1000 - days * 24 * 60 * 60;
      await utimes(join(all, name), time, time);
    };
    await made('1.0.0-old', 15);
    await made('1.0.0-recent', 13);
    await made('.halfway', 2);
    await made('.going', 0);
    await assertServes();
    assert.deepEqual((await readdir(all)).sort(), ['.going', '1.0.0-recent', bundle.name]);
  });

  it('goes where the person wants it', async () => {
    const installFolder = join(server.home, "it's a folder");
    await assertServes({ installFolder });
    assert.deepEqual(await readdir(installFolder), [bundle.name]);
  });

  it('runs with the Node that was named', async () => {
    const nodePath = join(server.home, "no'de $(touch evil)");
    await symlink(process.execPath, nodePath);
    await assertServes({ nodePath });
    assert.ok(!(await readdir(server.home)).includes('evil'));
  });

  it('is not installed where others can write', async () => {
    const installFolder = join(server.home, 'open');
    await mkdir(installFolder);
    await chmod(installFolder, 0o777);
    await assertFails({ installFolder }, 'not-installed', /others can write/);
  });

  it('is not installed where nothing can be written', () =>
    assertFails({ installFolder: '/proc/cordon' }, 'not-installed', /\/proc\/cordon: E/));

  it('needs Node', () => assertFails({ nodePath: '/no/node' }, 'not-installed', /\/no\/node/));

  it('needs a Node that decompresses zstd', async () => {
    /** A Node that takes itself for another version. */
    const pretending = async (version: string): Promise<string> => {
      const path = join(server.home, `node-${version}`);
      const pretended = `Object.defineProperty(process.versions,'node',{value:'${version}'})`;
      await writeFile(`${path}.js`, pretended);
      await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' -r '${path}.js' "$@"\n`);
      await chmod(path, 0o755);
      return path;
    };
    for (const version of ['4.9.1', '18.20.1', '22.14.0', '23.7.0']) {
      const needs = new RegExp(`Node ${version.replaceAll('.', '\\.')}.* needs 22\\.15 or newer.* 23\\.8`);
      await assertFails({ nodePath: await pretending(version) }, 'wrong-version', needs);
    }
    for (const version of ['22.15.0', '23.8.0', '24.0.0']) {
      await assertServes({ nodePath: await pretending(version) });
    }
  });

  it('needs programs for the processor', async () => {
    const files = bundle.files.filter(({ path }) => !path.startsWith('helper/'));
    const whole = bundle;
    bundle = { ...bundle, files };
    try {
      await assertFails({}, 'not-installed', new RegExp(`is linux-${process.arch}`));
    } finally {
      bundle = whole;
    }
  });

  it('says what the server said when it does not start', async () => {
    const whole = bundle;
    const other = await createTemporaryFolder('dist');
    await fillDist(other.path, 'console.error("the moon is wrong"); process.exit(3);');
    bundle = await readServerBundle(other.path, '1.2.3');
    try {
      await assertFails({}, 'unreachable', /the moon is wrong/);
    } finally {
      bundle = whole;
      await other.dispose();
    }
  });

  it('is not reached when the host shows another key', async () => {
    const stranger = await readFile(join(server.folder, 'stranger.pub'), 'utf8');
    const known = (await readFile(join(server.folder, 'known_hosts'), 'utf8')).split(' ')[0];
    await writeFile(join(server.folder, 'other_hosts'), `${known} ${stranger}`);
    const lines = [`UserKnownHostsFile ${join(server.folder, 'other_hosts')}`];
    await assertFails(
      { sshPath: await server.sshWith('otherKey', lines) },
      'wrong-key',
      /another host key than the one/,
    );
  });

  it('is not reached when nobody knows the key of the host', async () => {
    const sshPath = await server.sshWith('noKey', ['UserKnownHostsFile /dev/null']);
    await assertFails({ sshPath }, 'wrong-key', /does not know the host key/);
    // Nor does it wait for somebody who could be asked.
    const asking = ['UserKnownHostsFile /dev/null', 'StrictHostKeyChecking ask'];
    await assertFails({ sshPath: await server.sshWith('ask', asking) }, 'wrong-key', /does not know/);
  });

  it('is not reached with a key that the host does not know', async () => {
    const lines = [`IdentityFile ${join(server.folder, 'stranger')}`];
    // The first file wins only among single values: the usual one has to go.
    await rename(join(server.folder, 'user'), join(server.folder, 'user.away'));
    try {
      await assertFails(
        { sshPath: await server.sshWith('stranger-key', lines) },
        'refused',
        /refuses the login/,
      );
    } finally {
      await rename(join(server.folder, 'user.away'), join(server.folder, 'user'));
    }
  });

  it('is not reached where nobody listens', async () => {
    const sshPath = await server.sshWith('nowhere', ['Port 1']);
    await assertFails({ sshPath }, 'unreachable', /cannot be reached.*Connection refused/);
  });

  it('is not reached under a name that nobody has', async () => {
    const sshPath = await server.sshWith('noName', ['HostName cordon.invalid']);
    await assertFails({ sshPath }, 'unreachable', /There is no host/);
  });

  it('is not reached without ssh', () =>
    assertFails({ sshPath: '/no/ssh' }, 'invalid-settings', /\/no\/ssh cannot be run: ENOENT/));

  it('gives up when it is told to', async () => {
    const sshPath = await server.sshWith('hanging', ['ProxyCommand cat >/dev/null']);
    const settings = { host: server.host, folder: '/', sshPath };
    const signal = AbortSignal.timeout(300);
    const dialled = await dialSsh({ settings, bundle, hostProgram, log: silentLog, signal });
    assert.ok(!dialled.ok);
  });

  it('ends with its connection, on both sides', async () => {
    const settings = { host: server.host, folder: '/', sshPath: server.sshPath };
    const dialled = await dialSsh({ settings, bundle, hostProgram, log: silentLog });
    assert.ok(dialled.ok);
    server.cutConnections();
    assert.equal(await text(dialled.value.output), '');
  });
});

async function fillDist(folder: string, cli = echoServer): Promise<void> {
  const platform = `${process.platform}-${process.arch}`;
  for (const [path, content, mode] of [
    ['cli.js', cli, 0o755],
    ['cli/execServer.js', '', 0o644],
    ['cli/execServer.js.map', '', 0o644],
    ['bin/apply_patch', '#!/bin/sh\n', 0o755],
    ['grammars/bash.wasm', 'x'.repeat(2_000_000), 0o644],
    ['lazy/undici.js', '', 0o644],
    [`helper/launch-${platform}`, 'program', 0o755],
    [`node_modules/node-pty/prebuilds/${platform}/pty.node`, 'native', 0o644],
  ] as const) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content, { mode });
  }
}

/** To a file with the very same content, which somebody else could change later. */
async function replaceByLink(folder: string): Promise<void> {
  const elsewhere = join(folder, '../../cli.js');
  await rename(join(folder, 'cli.js'), elsewhere);
  await symlink(elsewhere, join(folder, 'cli.js'));
}

async function halve(folder: string): Promise<void> {
  await rm(join(folder, 'grammars'), { recursive: true });
  await rm(join(folder, 'node_modules'), { recursive: true });
}
