import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { uriOf } from '../../src/runtime/execServer/protocol/fileUri.ts';
import type { SandboxContext } from '../../src/runtime/execServer/protocol/sandboxContext.ts';
import type { SpawnedServer } from '../harness/spawnedServer.ts';
import { startCodexServer } from '../harness/codexServer.ts';
import { startCordonServer } from '../harness/cordonServer.ts';
import type { FaultyProxy } from '../harness/faultyProxy.ts';
import { startFaultyProxy } from '../harness/faultyProxy.ts';
import { contextOf, inFolder, workspaceWrite } from '../harness/sandboxContexts.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { Side } from './execServerSide.ts';
import { measure, printRatios, quantile } from './statistics.ts';

const peer = 'codex exec-server, usual client';
const peerForUs = 'codex exec-server, our client';
const own = 'Cordon, usual client';
const ownForUs = 'Cordon, our client';
const mebibytes = 64;
const together = 200;
const sessions = 50;
const distanceMs = 40;

/**
 * Both servers in one run, in turns, each by a usual client and by ours, which acknowledges what comes at once: the peer
 * waits for that before it sends its next small message.
 */
export async function measureExecServer(rounds = 60): Promise<void> {
  const folder = await createTemporaryFolder('bench-server');
  const [codex, cordon] = [await startCodexServer(), await startCordonServer()];
  const servers = { [peer]: codex, [peerForUs]: codex, [own]: cordon, [ownForUs]: cordon };
  const sandbox = contextOf(workspaceWrite, inFolder(folder.path));
  try {
    // First, before anything else has grown them.
    await measureMemory({ 'codex exec-server': codex, Cordon: cordon });
    await measureStarts(servers, sandbox, rounds);
    await measureEcho(servers, rounds);
    await measureFiles(servers, sandbox, folder.path, rounds);
    await measureStream(servers);
    await measureTogether(servers);
    await measureDistance(servers, 20);
    await measureResume(servers, 20);
  } finally {
    await Promise.all([codex.dispose(), cordon.dispose()]);
    await folder.dispose();
  }
}

type Servers = Readonly<Record<string, SpawnedServer>>;

/** A session on each server while `run` lasts. */
async function onEach(
  servers: Servers,
  run: (sides: readonly (readonly [name: string, side: Side])[]) => Promise<void>,
  urlOf: (name: string, server: SpawnedServer) => string = (_, { url }) => url,
): Promise<void> {
  const sides: [string, Side][] = [];
  for (const [name, server] of Object.entries(servers)) {
    const client = name === peerForUs || name === ownForUs ? 'ours' : 'usual';
    sides.push([name, await Side.open(urlOf(name, server), client)]);
  }
  try {
    await run(sides);
  } finally {
    sides.forEach(([, side]) => side.dispose());
  }
}

async function measureStarts(servers: Servers, sandbox: SandboxContext, rounds: number): Promise<void> {
  for (const [kind, more] of [
    ['plain', {}],
    ['in workspace-write', { sandbox }],
  ] as const) {
    await onEach(servers, async (sides) => {
      const times = await measure(
        Object.fromEntries(sides.map(([name, side]) => [name, () => side.toEnd(['/bin/true'], more)])),
        { rounds },
      );
      printTimes(`exec-server: /bin/true ${kind}, start to closed`, times);
    });
  }
}

async function measureEcho(servers: Servers, rounds: number): Promise<void> {
  await onEach(servers, async (sides) => {
    const contestants: Record<string, () => Promise<void>> = {};
    for (const [name, side] of sides) {
      const run = await side.start(['/bin/sh', '-c', 'exec sleep 600'], { tty: true });
      let writes = 0;
      contestants[name] = async () => {
        const echoed = run.nextOutput();
        const chunk = Buffer.from('x').toString('base64');
        await side.client.call('process/write', {
          processId: run.processId,
          chunk,
          writeId: String(++writes),
        });
        await echoed;
      };
    }
    printTimes('exec-server: keystroke to its echo on a terminal', await measure(contestants, { rounds }));
  });
}

async function measureFiles(
  servers: Servers,
  sandbox: SandboxContext,
  folder: string,
  rounds: number,
): Promise<void> {
  const path = uriOf(join(folder, 'written'));
  const dataBase64 = Buffer.from('a small file\n').toString('base64');
  for (const [kind, context] of [
    ['plain', null],
    ['in workspace-write', sandbox],
  ] as const) {
    await onEach(servers, async (sides) => {
      const times = await measure(
        Object.fromEntries(
          sides.map(([name, { client }]) => [
            name,
            () => client.call('fs/writeFile', { path, dataBase64, sandbox: context }),
          ]),
        ),
        { rounds },
      );
      printTimes(`exec-server: a small fs/writeFile ${kind}`, times);
    });
  }
}

async function measureStream(servers: Servers): Promise<void> {
  await onEach(servers, async (sides) => {
    const command = `head -c ${mebibytes}M /dev/zero | tr '\\0' 'x'`;
    const times = await measure(
      Object.fromEntries(
        sides.map(([name, side]) => [
          name,
          async () => {
            const { bytes } = await side.toEnd(['/bin/sh', '-c', command]);
            if (bytes !== mebibytes * 1024 ** 2) {
              throw new Error(`${name} sent ${bytes} bytes`);
            }
          },
        ]),
      ),
      { rounds: 15 },
    );
    printTimes(`exec-server: ${mebibytes} MiB of output`, times);
  });
}

async function measureTogether(servers: Servers): Promise<void> {
  await onEach(servers, async (sides) => {
    const times = await measure(
      Object.fromEntries(
        sides.map(([name, side]) => [
          name,
          async () => {
            const runs = await Promise.all(
              Array.from({ length: together }, () => side.start(['/bin/cat'], { pipeStdin: true })),
            );
            await Promise.all(
              runs.map(({ processId }) => side.client.call('process/terminate', { processId })),
            );
            await Promise.all(runs.map(({ closed }) => closed));
          },
        ]),
      ),
      { rounds: 3 },
    );
    printTimes(`exec-server: ${together} processes at once, started and ended`, times);
  });
}

/** Events that are pushed come after one trip; whoever asks for the end once more waits for two more. */
async function measureDistance(servers: Servers, rounds: number): Promise<void> {
  const proxies = await proxiesFor(servers, distanceMs);
  await onEach(
    servers,
    async (sides) => {
      const ways = sides.flatMap(([name, side]): (readonly [string, () => Promise<unknown>])[] => [
        [`${name}, pushed`, () => side.toEnd(['/bin/true'])],
        [
          `${name}, final read`,
          async () => {
            const { processId, exited } = await side.start(['/bin/true']);
            await exited;
            for (let isClosed = false; !isClosed;) {
              isClosed = (await side.client.call('process/read', { processId, waitMs: 1_000 })).closed;
            }
          },
        ],
      ]);
      const times = await measure(Object.fromEntries(ways), { rounds });
      printTimes(`exec-server: /bin/true through ${distanceMs} ms each way`, times, `${peer}, pushed`);
    },
    (name) => `ws://${proxies[name]?.address}`,
  );
  await Promise.all(Object.values(proxies).map((proxy) => proxy.dispose()));
}

async function measureResume(servers: Servers, rounds: number): Promise<void> {
  const proxies = await proxiesFor(servers, 0);
  await onEach(
    servers,
    async (sides) => {
      const contestants = Object.fromEntries(
        sides.map(([name, { client }]) => [
          name,
          async () => {
            const back = Promise.withResolvers<void>();
            const listener = client.onDidChangeState(({ kind }) => kind === 'connected' && back.resolve());
            proxies[name]?.cutAfter(0);
            // Its answer is where the connection breaks; the client asks once more when it is back.
            await client.call('environment/status', {});
            await back.promise;
            listener.dispose();
          },
        ]),
      );
      printTimes('exec-server: back after a cut', await measure(contestants, { rounds }));
    },
    (name) => `ws://${proxies[name]?.address}`,
  );
  await Promise.all(Object.values(proxies).map((proxy) => proxy.dispose()));
}

async function proxiesFor(servers: Servers, delayMs: number): Promise<Readonly<Record<string, FaultyProxy>>> {
  const entries = Object.entries(servers).map(async ([name, { url }]) => {
    const { hostname: host, port } = new URL(url);
    return [name, await startFaultyProxy({ host, port: Number(port) }, delayMs)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Of the server alone: what a session with one idle process adds to it. */
async function measureMemory(servers: Servers): Promise<void> {
  console.log(`\nexec-server: memory of the server (of ${sessions} sessions with an idle process each)`);
  for (const [name, server] of Object.entries(servers)) {
    const before = residentKiB(server.pid);
    const sides: Side[] = [];
    for (let session = 0; session < sessions; session++) {
      const side = await Side.open(server.url);
      await side.start(['/bin/sleep', '600']);
      sides.push(side);
    }
    // What connecting took is given back soon.
    await delay(2_000);
    const after = residentKiB(server.pid);
    sides.forEach((side) => side.dispose());
    const perSession = ((after - before) / sessions).toFixed(0);
    console.log(
      `  ${name.padEnd(peerForUs.length)}  ${perSession} KiB a session, ${(before / 1024).toFixed(0)} MiB before`,
    );
  }
}

function residentKiB(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib);
}

function printTimes(title: string, times: Readonly<Record<string, readonly number[]>>, base = peer): void {
  for (const [share, word] of [
    [0.5, 'p50'],
    [0.95, 'p95'],
  ] as const) {
    const values = Object.entries(times).map(([name, all]) => [name, quantile(all, share)] as const);
    printRatios(`${title} (${word})`, Object.fromEntries(values), base);
  }
}
