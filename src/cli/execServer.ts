import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { startTelemetry } from '../base/startTelemetry.ts';
import { buildOf } from '../runtime/execServer/buildOf.ts';
import { ExecServer } from '../runtime/execServer/server/execServer.ts';
import type { Accept, Listener } from '../runtime/execServer/server/listen/listener.ts';
import { listenStdio } from '../runtime/execServer/server/listen/listenStdio.ts';
import { listenUnix } from '../runtime/execServer/server/listen/listenUnix.ts';
import { listenWebSocket } from '../runtime/execServer/server/listen/listenWebSocket.ts';
import type { ServerLog } from '../runtime/execServer/server/serverLog.ts';
import { fileLog, silentServerLog } from '../runtime/execServer/server/serverLog.ts';
import { spawnersOf } from '../terminal/spawners.ts';
import { createSandboxManager } from '../sandbox/createSandboxManager.ts';
import type { ExecServerFlags, ListenFlag } from './execServerFlags.ts';
import { execServerFlags } from './execServerFlags.ts';
import { cliCompanion, cliHelperFolder, ownFolder } from './policyFlags.ts';
import { UsageError } from './usageError.ts';
import { ownVersion } from './version.ts';

/** As the reference has it. */
const retainClosedMs = 80_000;

/** `cordon exec-server`: runs until it is told to end, its one client is gone, or nobody has needed it for long. */
export async function runExecServer(args: readonly string[]): Promise<number> {
  try {
    await serve(execServerFlags(args));
    return 0;
  } catch (error) {
    process.stderr.write(`cordon exec-server: ${(error as Error).message}\n`);
    return 1;
  }
}

async function serve(flags: ExecServerFlags): Promise<void> {
  const log = openLog(flags.logPath);
  for (const warning of flags.warnings) {
    process.stderr.write(`cordon exec-server: ${warning}\n`);
  }
  const spans = await startTelemetry('cordon-exec-server', ownVersion, log);
  const end = Promise.withResolvers<string>();
  const idle = new IdleTimer(flags.exitWhenIdleMs, () => end.resolve('idle'));
  const trusted = [
    ownFolder(),
    ...(flags.logPath === undefined ? [] : [flags.logPath]),
    ...folderOfSocket(flags),
  ];
  const server = new ExecServer({
    ...flags,
    log,
    trustedPaths: trusted,
    retainClosedMs,
    installation: { folder: ownFolder(), version: ownVersion, build: buildOf(ownFolder()) },
    parentEnv: process.env,
    helperFolder: cliHelperFolder(),
    createSandbox: ({ untrustedFolders, trustedPaths, upstream }) =>
      createSandboxManager({
        platform: process.platform,
        helperPath: cliCompanion(),
        trustedPaths: [...trusted, ...trustedPaths],
        hiddenFolders: folderOfSocket(flags),
        searchPath: process.env['PATH'] ?? '',
        log,
        untrustedFolders: () => untrustedFolders,
        ...(upstream !== undefined && { networkAccess: { upstream: () => upstream ?? undefined } }),
      }),
    onIdle: (isIdle) => idle.set(isIdle),
  });
  // Before anybody can connect: a signal must find its listener.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => end.resolve(signal));
  }
  const listener = await listen(flags.listen, (transport) => server.accept(transport));
  log.record('listen', { address: listener.address ?? 'stdio', pid: process.pid });
  if (listener.address !== undefined) {
    process.stdout.write(`${listener.address}\n`);
  }
  idle.set(true);
  if (process.platform === 'linux') {
    spawnersOf(cliCompanion()).prepare();
  }
  const reason = await Promise.race([end.promise, listener.ended.then(() => 'its client is gone')]);
  log.record('end', { reason });
  await listener.close();
  await server.close();
  await spans.stop();
  // Connections that are being closed must not hold it.
  process.exit(0);
}

async function listen(flag: ListenFlag, accept: Accept): Promise<Listener> {
  switch (flag.kind) {
    case 'stdio':
      return listenStdio(accept);
    case 'unix':
      return explained(`unix:${flag.path}`, listenUnix(flag.path, accept));
    case 'ws': {
      const host = isIP(flag.host) === 6 ? `[${flag.host}]` : flag.host;
      return explained(`ws://${host}:${flag.port}`, listenWebSocket(flag, accept));
    }
  }
}

/** Why it does not listen there, with the flag that says where and what to do. */
async function explained(where: string, listening: Promise<Listener>): Promise<Listener> {
  try {
    return await listening;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const cure = code === undefined ? undefined : (cures[code] ?? 'Name another place');
    throw new UsageError(
      `--listen ${where} is not possible: ${message}${cure === undefined ? '' : `. ${cure}.`}`,
    );
  }
}

const cures: Readonly<Record<string, string>> = {
  EADDRINUSE: 'End what listens there, or name another port: 0 takes a free one',
  EADDRNOTAVAIL: 'Name an address that this machine has',
  EACCES: 'Name a port above 1023, or a folder of your own',
};

function openLog(path: string | undefined): ServerLog {
  if (path === undefined) {
    return silentServerLog;
  }
  try {
    return fileLog(path, (error) => {
      process.stderr.write(`cordon exec-server: --log ${path}: ${error.message}\n`);
    });
  } catch (error) {
    const reason = (error as Error).message;
    throw new UsageError(`--log ${path} is not possible: ${reason}. Name a file that can be written.`);
  }
}

/** Who reaches another server in it, which may be of later, runs whatever it wants. */
function folderOfSocket({ listen: { kind, ...place } }: ExecServerFlags): readonly string[] {
  return kind === 'unix' && 'path' in place ? [dirname(join(place.path))] : [];
}

/** Goes off when nobody was there for the whole time. */
class IdleTimer {
  readonly #ms: number | undefined;
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number | undefined, onIdle: () => void) {
    this.#ms = ms;
    this.#onIdle = onIdle;
  }

  set(isIdle: boolean): void {
    if (!isIdle) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else if (this.#ms !== undefined && this.#timer === undefined) {
      this.#timer = setTimeout(this.#onIdle, this.#ms);
    }
  }
}
