import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { assertEnded, processesWithEnvironment } from './processes.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';
import { waitFor } from './waitFor.ts';

/** A `sshd` of its own on loopback, with its own keys and configuration, that lets this user in and nobody else. */
export interface SshServer {
  /** As the configuration of {@link sshPath} knows it. */
  readonly host: string;
  /** Program that is ssh with the server's configuration instead of the person's. */
  readonly sshPath: string;
  /** The home folder that commands see: nothing of the person's own is touched. */
  readonly home: string;
  readonly folder: string;
  /** Another configuration of the client: lines on top of the usual ones win. */
  sshWith(name: string, lines: readonly string[]): Promise<string>;
  /** Ends every connection, as a network does that breaks; new ones are let in. */
  cutConnections(): void;
  dispose(): Promise<void>;
}

const daemon = '/usr/sbin/sshd';

export interface SshServerOptions {
  /** Lines of shell that the login shell runs before every command. */
  readonly profile?: string;
}

export async function startSshServer({ profile = '' }: SshServerOptions = {}): Promise<SshServer> {
  const folder = await createTemporaryFolder('sshd');
  const at = (name: string): string => join(folder.path, name);
  const home = at('home');
  await mkdir(home, { mode: 0o700 });
  for (const name of ['host', 'user', 'stranger']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)]);
  }
  const port = await freePort();
  const hostKey = await readFile(at('host.pub'), 'utf8');
  await writeFile(at('known_hosts'), `[127.0.0.1]:${port} ${hostKey}`);
  await writeFile(at('authorized_keys'), await readFile(at('user.pub')));
  // The command that was asked for, with another home folder.
  await writeFile(
    at('command.sh'),
    [
      `export HOME='${home}' PATH='${process.env['PATH']}'`,
      'unset XDG_RUNTIME_DIR XDG_CACHE_HOME',
      profile,
      'exec sh -c "$SSH_ORIGINAL_COMMAND"',
      '',
    ].join('\n'),
  );
  await writeFile(
    at('sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host')}`,
      `PidFile ${at('sshd.pid')}`,
      `AuthorizedKeysFile ${at('authorized_keys')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin yes',
      `ForceCommand sh ${at('command.sh')}`,
      '',
    ].join('\n'),
  );
  if (process.getuid?.() === 0) {
    await mkdir('/run/sshd', { recursive: true }); // sshd as root insists on it
  }
  const sshd = spawn(daemon, ['-D', '-e', '-f', at('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  sshd.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  await waitFor('sshd to listen', () => said.includes('Server listening on'), { describe: () => said });

  const usual = [
    'HostName 127.0.0.1',
    `Port ${port}`,
    `User ${userInfo().username}`,
    `IdentityFile ${at('user')}`,
    'IdentitiesOnly yes',
    'IdentityAgent none',
    `UserKnownHostsFile ${at('known_hosts')}`,
    'GlobalKnownHostsFile /dev/null',
    'StrictHostKeyChecking yes',
  ];
  async function sshWith(name: string, lines: readonly string[]): Promise<string> {
    const config = at(`${name}.config`);
    await writeFile(config, ['Host *', ...lines, ...usual, ''].join('\n'));
    const program = at(name);
    await writeFile(program, `#!/bin/sh\nexec ssh -F '${config}' "$@"\n`);
    await chmod(program, 0o755);
    return program;
  }

  const cutConnections = (): void => {
    for (const pid of connectionsOf(sshd.pid ?? 0)) {
      process.kill(pid, 'SIGKILL');
    }
  };
  return {
    host: 'cordon-test',
    sshPath: await sshWith('ssh', []),
    home,
    folder: folder.path,
    sshWith,
    cutConnections,
    async dispose() {
      const ended = once(sshd, 'exit');
      cutConnections();
      sshd.kill('SIGTERM');
      await ended;
      // They would wait for their clients to come back.
      const servers = processesWithEnvironment('HOME', home).filter(({ command }) =>
        command.includes(' exec-server '),
      );
      servers.forEach(({ pid }) => process.kill(pid, 'SIGTERM'));
      await assertEnded(servers);
      await folder.dispose();
    },
  };
}

/** The processes of sshd that serve one connection each. */
function connectionsOf(sshd: number): readonly number[] {
  try {
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(sshd)], { encoding: 'utf8' });
    return children.split('\n').flatMap((line) => (line.trim() === '' ? [] : [Number(line)]));
  } catch {
    return []; // ps fails when there is none
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
