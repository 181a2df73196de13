import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { waitFor } from '../harness/waitFor.ts';
import { all, isRoot, nodePath, removing, withoutCompanion } from './harness.ts';
import { PersonsHome } from './personsHome.ts';

const run = isRoot ? '/run' : `/run/user/${process.getuid?.()}`;
const mark = `cordon-escape-${process.pid}`;
const display = 60_000 + (process.pid % 5000);
const reached = /^reached/m;

describe('Under the default policy a command cannot reach', function () {
  let home: PersonsHome;
  before(function () {
    if (process.platform !== 'linux') this.skip();
    home = new PersonsHome();
  });
  after(() => home?.dispose());

  const cleanUps: (() => unknown)[] = [];
  afterEach(() => {
    for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp();
  });

  /** Every variable that leads to a service, as an editor on a desktop has them. */
  const editorWith = (path: string): Record<string, string> => ({
    SSH_AUTH_SOCK: path,
    SSH_AGENT_PID: '1',
    GPG_AGENT_INFO: `${path}:0:1`,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}`,
    DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${path}`,
    DOCKER_HOST: `unix://${path}`,
    DISPLAY: `:${display}`,
    WAYLAND_DISPLAY: path,
    XAUTHORITY: path,
    XDG_RUNTIME_DIR: dirname(path),
    PULSE_SERVER: path,
  });

  function makeFolder(folder: string): void {
    const first = mkdirSync(folder, { recursive: true });
    if (first !== undefined) cleanUps.push(() => rmSync(first, { recursive: true, force: true }));
  }

  /** Answers whatever is said to it, as HTTP. */
  async function serve(path: string): Promise<void> {
    const server: Server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nreached\n'));
    });
    if (!path.startsWith('\0')) makeFolder(dirname(path));
    server.listen(path);
    await once(server, 'listening');
    cleanUps.push(() => server.close());
  }

  /** A real service, in the foreground. */
  async function startService(
    argv: readonly [string, ...string[]],
    isReady: () => boolean,
    path?: string,
  ): Promise<void> {
    if (path !== undefined) makeFolder(dirname(path));
    const child = spawn(argv[0], argv.slice(1), {
      stdio: 'ignore',
      env: { ...process.env, HOME: home.home },
    });
    cleanUps.push(() => child.kill('SIGKILL'));
    await waitFor(argv.join(' '), isReady);
  }

  const has = (program: string): boolean =>
    (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program)));

  /** The attack fails; told to open the very socket, it succeeds. */
  async function isRefused(path: string, attack: string, success = reached): Promise<void> {
    const editor = editorWith(path);
    const refused = await home.run(attack, { editor });
    assert.doesNotMatch(refused.stdout, success);
    const opened = await home.run(attack, { editor, user: { sockets: [path] } });
    assert.match(opened.stdout, success, opened.stderr);
  }

  const curl = (path: string): string => `curl -s --unix-socket '${path}' http://engine/_ping`;
  const talk = (path: string): string =>
    `'${nodePath}' -e "require('net').connect(${JSON.stringify(path).replaceAll('"', "'")}).on('data', (data) => console.log(String(data))).on('error', (error) => console.log(error.code)).end('hello\\n')"`;

  const places: Readonly<Record<string, () => string>> = {
    [run]: () => join(run, mark, 'docker.sock'),
    'the home folder': () => join(home.home, '.docker/run/docker.sock'),
    '/tmp': () => join('/tmp', mark, 'podman.sock'),
  };
  for (const [where, placeOf] of Object.entries(places)) {
    it(`the socket of a container engine in ${where}`, async function () {
      if (!has('curl') || (where === run && !existsSync(run))) this.skip();
      await serve(placeOf());
      await isRefused(placeOf(), curl(placeOf()));
    });
  }

  it('an agent with the keys of ssh', async function () {
    if (!has('ssh-agent')) this.skip();
    const path = join('/tmp', `ssh-${mark}`, 'agent.1');
    await startService(['ssh-agent', '-D', '-a', path], () => existsSync(path), path);
    await isRefused(path, `SSH_AUTH_SOCK='${path}' ssh-add -l`, /no identities/);
    const { stdout } = await home.run('ssh-add -l 2>&1', { editor: editorWith(path) });
    assert.match(stdout, /Could not open a connection/);
  });

  it('an agent with the keys of gpg', async function () {
    if (!has('gpg-agent') || !has('gpgconf')) this.skip();
    const folder = join(home.home, '.gnupg');
    mkdirSync(folder, { mode: 0o700 });
    const gpgconf = (...args: readonly string[]): string =>
      execFileSync('gpgconf', ['--homedir', folder, ...args], { encoding: 'utf8' }).trim();
    const path = gpgconf('--list-dirs', 'agent-socket');
    await startService(['gpg-agent', '--homedir', folder, '--daemon', '--', 'sleep', '1000'], () =>
      existsSync(path),
    );
    cleanUps.push(() => gpgconf('--kill', 'gpg-agent'));
    await isRefused(path, talk(path), /^OK Pleased to meet you/m);
  });

  const bus = (address: string): string =>
    `dbus-send --bus=${address} --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId`;
  const startBus = (address: string, path?: string): Promise<void> =>
    startService(
      ['dbus-daemon', '--session', '--nofork', '--nopidfile', `--address=${address}`],
      () => spawnSync('/bin/sh', ['-c', bus(address)]).status === 0,
      path,
    );

  it('a bus of the desktop by its path', async function () {
    if (!has('dbus-daemon') || !has('dbus-send')) this.skip();
    const path = join('/tmp', mark, 'bus');
    await startBus(`unix:path=${path}`, path);
    await isRefused(path, bus(`unix:path=${path}`), /^method return/);
  });

  const withoutWalls = all(removing('--unshare-net'), withoutCompanion);

  it('a bus of the desktop by its abstract name', async function () {
    if (!has('dbus-daemon') || !has('dbus-send')) this.skip();
    const address = `unix:abstract=${mark}-bus`;
    await startBus(address);
    assert.equal((await home.run(bus(address))).stdout, '');
    // Without the companion program the command calls itself root, which the bus believes of root only.
    if (!isRoot) return;
    const outcome = await home.run(bus(address), { without: withoutWalls });
    assert.match(outcome.stdout, /^method return/, outcome.stderr);
  });

  const screen = `/tmp/.X11-unix/X${display}`;

  it('a screen of X11 by its path', async () => {
    await serve(screen);
    await isRefused(screen, talk(screen));
  });

  it('a screen of X11 by its abstract name', async () => {
    await serve(`\0${screen}`);
    const attack = talk(`\0${screen}`).replace('\\u0000', '\\x00');
    assert.doesNotMatch((await home.run(attack)).stdout, reached);
    assert.match((await home.run(attack, { without: withoutWalls })).stdout, reached);
  });

  it('any of them by the editor’s variables, which only a person’s own setting brings back', async () => {
    const editor = editorWith('/somewhere');
    const names = `env | cut -d= -f1 | grep -xE '${Object.keys(editor).join('|')}' | sort`;
    assert.equal((await home.run(names, { editor })).stdout, '');
    const inherited = await home.run(names, { editor, user: { environment: { inherit: 'all' } } });
    assert.equal(inherited.stdout, '');
    const set = await home.run(names, { editor, user: { environment: { set: editor } } });
    assert.deepEqual(set.stdout.trim().split('\n'), Object.keys(editor).sort());
  });

  it('a socket that another user keeps in a private folder, which stops no command of root’s', async function () {
    if (!isRoot) this.skip();
    const path = join(home.elsewhere.outside, 'private/service.sock');
    await serve(path);
    execFileSync('chown', ['-R', '65534:65534', dirname(path)]);
    chmodSync(path, 0o777);
    chmodSync(dirname(path), 0o700);
    const refused = await home.run(talk(path));
    assert.equal(refused.stdout, 'EACCES\n', refused.stderr);
    chmodSync(dirname(path), 0o711);
    assert.equal((await home.run(talk(path))).stdout, 'ECONNREFUSED\n');
    assert.match((await home.run(talk(path), { user: { sockets: [path] } })).stdout, reached);
  });
});
