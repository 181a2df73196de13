import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { AllowListArena, ports } from '../escape/allowListArena.ts';
import { listen } from '../harness/proxyClient.ts';
import { printRatios, race } from './statistics.ts';

const mebibytes = 256;
const requests = 300;
const run = promisify(execFile);

/** One download, and many small requests on connections of their own, by curl: directly, and out of the sandbox. */
export async function measureProxy(rounds = 5): Promise<void> {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const server = createServer((request, response) => {
    let left = request.url === '/large' ? mebibytes : 0;
    const push = (): void => {
      while (left > 0) {
        left -= 1;
        if (!response.write(chunk)) {
          return;
        }
      }
      response.end('done');
    };
    response.on('drain', push);
    push();
  });
  const port = await listen(server);
  const arena = new AllowListArena();
  const policy = arena.allowing(ports(port));
  // The transfers are timed inside, by curl itself, so that starting a sandbox is no part of it.
  const seconds = async (script: string, isConfined: boolean): Promise<number> => {
    const { stdout } = isConfined
      ? await arena.shellUnder(policy, script)
      : await run('/bin/bash', ['-c', script], { env: { PATH: process.env['PATH'] } });
    return stdout.split(/\s+/).reduce((sum, text) => sum + Number(text), 0);
  };
  const timed = (path: string, count: number, flags: string): string =>
    `for i in $(seq ${count}); do curl -s --noproxy '' ${flags} -o /dev/null -w '%{time_total}\\n' http://127.0.0.1:${port}${path}; done`;
  const roads: Readonly<Record<string, readonly [flags: string, isConfined: boolean]>> = {
    'direct loopback': ['', false],
    'sandbox, HTTP': ['-x http://127.0.0.1:3128', true],
    'sandbox, CONNECT': ['-p -x http://127.0.0.1:3128', true],
    'sandbox, SOCKS5': ['-x socks5h://127.0.0.1:3128', true],
  };
  for (const [title, path, count] of [
    [`${mebibytes} MiB download`, '/large', 1],
    [`${requests} small requests, a connection each`, '/small', requests],
  ] as const) {
    const medians: Record<string, number> = {};
    const times: Record<string, number[]> = {};
    await race(
      Object.fromEntries(
        Object.entries(roads).map(([name, [flags, isConfined]]) => [
          name,
          async () => {
            (times[name] ??= []).push(1000 * (await seconds(timed(path, count, flags), isConfined)));
          },
        ]),
      ),
      { rounds },
    );
    for (const [name, values] of Object.entries(times)) {
      medians[name] = values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
    }
    printRatios(`Network: ${title} (median of curl’s own time)`, medians, 'direct loopback');
  }
  arena.dispose();
  server.close();
  server.closeAllConnections();
}
