import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { uriOf } from '../../../src/runtime/execServer/protocol/fileUri.ts';
import { createTemporaryFolder, type TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';

const cli = join(import.meta.dirname, '../../../dist/cli.js');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

describe('File calls to the built exec-server', function () {
  this.timeout(60_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let folder: TemporaryFolder;
  let server: ChildProcessWithoutNullStreams;
  let waiting: Map<number, (answer: Answer) => void>;
  beforeEach(async () => {
    folder = await createTemporaryFolder('files');
    mkdirSync(join(folder.path, 'root'));
    waiting = new Map();
    server = spawn(process.execPath, [cli, 'exec-server', '--listen', 'stdio'], { stdio: 'pipe' });
    createInterface({ input: server.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      waiting.get(answer.id)?.(answer);
    });
    await call('initialize', { clientName: 'test' });
    server.stdin.write('{"method":"initialized"}\n');
  });
  afterEach(async () => {
    if (server.exitCode === null && server.signalCode === null) {
      server.stdin.end();
      await once(server, 'close');
    }
    await folder.dispose();
  });

  function call(method: string, params: unknown): Promise<Answer> {
    const id = waiting.size + 1;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    server.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    return answered;
  }

  const at = (...names: string[]): string => join(folder.path, ...names);
  /** Everything is readable, the root is writable. */
  const context = () => ({
    permissions: {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [
          { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
          { path: { type: 'special', value: { kind: 'project_roots' } }, access: 'write' },
        ],
      },
      network: 'restricted',
    },
    windowsSandboxLevel: 'disabled',
    policyContext: { workspaceRoots: [uriOf(at('root'))] },
  });
  const write = (path: string, sandbox: unknown = null): Promise<Answer> =>
    call('fs/writeFile', { path: uriOf(path), dataBase64: base64('text'), sandbox });

  it('are done as their context says', async () => {
    assert.deepEqual((await write(at('root/file'), context())).result, {});
    assert.equal(readFileSync(at('root/file'), 'utf8'), 'text');
    assert.equal((await write(at('file'), context())).error?.code, -32_603);
    assert.ok(!existsSync(at('file')));
    assert.deepEqual((await write(at('file'))).result, {});
  });

  for (const [how, end] of [
    ['its input ends', () => server.stdin.end()],
    ['it is killed', () => server.kill('SIGKILL')],
  ] as const) {
    it(`leave no worker when ${how}`, async () => {
      await write(at('root/file'), context());
      const workers = workersBelow(server.pid as number);
      assert.equal(workers.length, 1);
      end();
      await once(server, 'close');
      await waitFor('the worker to end', () =>
        workers.every((pid) => !commandLine(pid).includes('file-worker')),
      );
    });
  }
});

/** The processes in which file calls are done for a server. */
function workersBelow(server: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => /\0file-worker\0$/.test(commandLine(pid)) && !commandLine(pid).includes('--'))
    .filter((pid) => isBelow(pid, server));
}

function isBelow(pid: number, ancestor: number): boolean {
  const parent = Number(/\) \S (\d+)/.exec(contentOf(pid, 'stat'))?.[1] ?? 0);
  return parent === ancestor || (parent > 1 && isBelow(parent, ancestor));
}

const commandLine = (pid: number): string => contentOf(pid, 'cmdline');

function contentOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
