import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { listen } from '../harness/proxyClient.ts';
import { AllowListArena, ports } from './allowListArena.ts';
import { isRoot, nodePath } from './harness.ts';

/** Each tool as a person would call it, with nothing told to it but the environment. */
describe('Behind an allow-list works', function () {
  let arena: AllowListArena;
  let files: string;
  let server: Server;
  let port: number;

  before(async function () {
    if (process.platform !== 'linux') {
      this.skip();
    }
    arena = new AllowListArena();
    files = join(arena.folder, 'served');
    mkdirSync(files);
    server = createServer((request, response) => {
      const path = join(files, decodeURIComponent((request.url ?? '').split('?')[0] ?? ''));
      const found = [path, join(path, 'index.html')].find(
        (candidate) => existsSync(candidate) && statSync(candidate).isFile(),
      );
      response.statusCode = found === undefined ? 404 : 200;
      response.setHeader(
        'Content-Type',
        found?.endsWith('.html') === true ? 'text/html' : 'application/octet-stream',
      );
      response.end(found === undefined ? '' : readFileSync(found));
    });
    port = await listen(server);
    writeFileSync(join(files, 'hello'), 'hello from outside');
  });

  after(() => {
    server.close();
    server.closeAllConnections();
    arena.dispose();
  });

  function needs(test: Mocha.Context, ...programs: readonly string[]): void {
    for (const program of programs) {
      try {
        execFileSync('/bin/sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
      } catch {
        test.skip();
      }
    }
  }

  async function succeeds(script: string, output: RegExp, ...more: readonly number[]): Promise<void> {
    const policy = arena.allowing(ports(port, ...more));
    const outcome = await arena.shellUnder(policy, script);
    assert.equal(outcome.exitCode, 0, outcome.stderr + outcome.stdout);
    assert.match(outcome.stdout, output);
    // The same without a rule fails, and it is known for what.
    const refused = await arena.shellUnder(arena.allowing([]), script);
    assert.notEqual(refused.exitCode, 0);
    assert.notDeepEqual(refused.blocked, []);
  }

  const url = (name: string): string => `http://files.test:${port}/${name}`;

  it('curl', () => succeeds(`curl -sf ${url('hello')}`, /^hello from outside$/));

  it('curl over TLS', async function () {
    needs(this, 'openssl');
    const [key, cert] = [join(arena.folder, 'key.pem'), join(arena.folder, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=tls.test'],
        ...['-keyout', key, '-out', cert],
      ],
      { stdio: 'ignore' },
    );
    const tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) =>
      response.end('hello over TLS'),
    );
    const number = await listen(tls);
    await succeeds(`curl -sfk https://tls.test:${number}/`, /^hello over TLS$/, number);
    tls.close();
    tls.closeAllConnections();
  });

  it('wget', async function () {
    needs(this, 'wget');
    await succeeds(`wget -qO- ${url('hello')}`, /hello from outside/);
  });

  it('fetch of Node', async function () {
    if (Number(process.versions.node.split('.')[0]) < 24) {
      this.skip();
    }
    const script = `fetch('${url('hello')}').then(async (r) => { if (!r.ok) process.exit(1); console.log(await r.text()) })`;
    await succeeds(`'${nodePath}' -e "${script}"`, /hello from outside/);
  });

  it('urllib of Python', async function () {
    needs(this, 'python3');
    const script = `import urllib.request; print(urllib.request.urlopen('${url('hello')}').read())`;
    await succeeds(`python3 -c "${script}"`, /hello from outside/);
  });

  it('Java', async function () {
    needs(this, 'java', 'javac');
    writeFileSync(
      join(arena.root, 'Main.java'),
      `public class Main { public static void main(String[] a) throws Exception {
        System.out.println(new String(new java.net.URL("${url('hello')}").openStream().readAllBytes())); } }`,
    );
    await succeeds('java Main.java', /hello from outside/);
  }).timeout(120_000);

  it('npm install', async function () {
    needs(this, 'npm', 'tar');
    const folder = join(files, 'tiny-package');
    const source = join(arena.folder, 'package');
    mkdirSync(folder);
    mkdirSync(source);
    const manifest = { name: 'tiny-package', version: '1.0.0' };
    writeFileSync(join(source, 'package.json'), JSON.stringify(manifest));
    execFileSync('tar', ['-czf', join(folder, 'tiny.tgz'), '-C', arena.folder, 'package']);
    const versions = { '1.0.0': { ...manifest, dist: { tarball: url('tiny-package/tiny.tgz') } } };
    writeFileSync(
      join(folder, 'index.html'),
      JSON.stringify({ name: 'tiny-package', 'dist-tags': { latest: '1.0.0' }, versions }),
    );
    const flags = `--registry=http://files.test:${port}/ --no-audit --no-fund --fetch-retries=0`;
    await succeeds(
      `rm -rf /tmp/n && mkdir /tmp/n && cd /tmp/n && npm install ${flags} tiny-package >&2 && ls node_modules`,
      /tiny-package/,
    );
  }).timeout(120_000);

  it('pip install', async function () {
    needs(this, 'python3', 'pip');
    const folder = join(files, 'simple', 'tinywheel');
    mkdirSync(folder, { recursive: true });
    const wheel = 'tinywheel-1.0-py3-none-any.whl';
    execFileSync('python3', [
      '-c',
      `import zipfile
z = zipfile.ZipFile(${JSON.stringify(join(folder, wheel))}, 'w')
z.writestr('tinywheel.py', 'x = 1')
z.writestr('tinywheel-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tinywheel\\nVersion: 1.0\\n')
z.writestr('tinywheel-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
z.writestr('tinywheel-1.0.dist-info/RECORD', '')
z.close()`,
    ]);
    writeFileSync(join(folder, 'index.html'), `<a href="${wheel}">${wheel}</a>`);
    // Not by the name on the path, which may belong to a version manager that wants to write.
    const flags = `--index-url http://files.test:${port}/simple --trusted-host files.test --retries 0 --no-cache-dir`;
    await succeeds(
      `"$(python3 -c 'import sys; print(sys.executable)')" -m pip install -q ${flags} --target /tmp/t tinywheel && ls /tmp/t`,
      /tinywheel\.py/,
    );
  }).timeout(120_000);

  function makeRepository(): string {
    const repository = join(files, 'project.git');
    if (!existsSync(repository)) {
      const work = join(arena.folder, 'work');
      const git = (...args: readonly string[]) => execFileSync('git', [...args], { stdio: 'ignore' });
      git('init', '-q', work);
      const who = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
      git('-C', work, ...who, 'commit', '-q', '--allow-empty', '-m', 'cloned from outside');
      git('clone', '-q', '--bare', work, repository);
      git('-C', repository, 'update-server-info');
    }
    return repository;
  }

  it('git clone over HTTP', async function () {
    needs(this, 'git');
    makeRepository();
    await succeeds(
      `git clone -q ${url('project.git')} /tmp/c && git -C /tmp/c log --format=%s`,
      /cloned from outside/,
    );
  });

  it('git clone over ssh', async function () {
    const sshd = '/usr/sbin/sshd';
    needs(this, 'git', 'ssh', 'ssh-keygen');
    if (!existsSync(sshd) || !isRoot) {
      this.skip();
    }
    const repository = makeRepository();
    const keys = join(arena.root, 'keys');
    mkdirSync(keys);
    mkdirSync('/run/sshd', { recursive: true });
    for (const name of ['host', 'user']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, name)]);
    }
    const configuration = join(keys, 'sshd_config');
    writeFileSync(
      configuration,
      `HostKey ${keys}/host\nAuthorizedKeysFile ${keys}/user.pub\nStrictModes no\nPermitRootLogin yes\nUsePAM no\n`,
    );
    const running: ChildProcess[] = [];
    const listener = createTcpServer({ allowHalfOpen: true }, (socket) => {
      const daemon = spawn(sshd, ['-i', '-e', '-f', configuration], { stdio: ['pipe', 'pipe', 'ignore'] });
      running.push(daemon);
      socket.on('error', () => daemon.kill());
      daemon.stdin.on('error', () => {});
      socket.pipe(daemon.stdin);
      daemon.stdout.pipe(socket);
    });
    const number = await listen(listener);
    const options = `-i ${keys}/user -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no`;
    const script = `GIT_SSH_COMMAND="$GIT_SSH_COMMAND ${options}" git clone -q ssh://root@code.test:${number}${repository} /tmp/s && git -C /tmp/s log --format=%s`;
    try {
      await succeeds(script, /cloned from outside/, number);
    } finally {
      for (const daemon of running) daemon.kill();
      listener.close();
    }
  });
});
