import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { linesTransport } from '../../src/runtime/execServer/transport/lines.ts';
import type { MessageTransport } from '../../src/runtime/execServer/transport/messageTransport.ts';
import { webSocketTransport } from '../../src/runtime/execServer/transport/webSocket.ts';
import { waitFor } from './waitFor.ts';

export const cordonCli = join(import.meta.dirname, '../../dist/cli.js');

/** A server in a process of its own, as a person starts it. */
export class TestServer {
  readonly process: ChildProcess;
  readonly address: string;
  readonly exitCode: Promise<number | null>;

  private constructor(process: ChildProcess, address: string, exitCode: Promise<number | null>) {
    this.process = process;
    this.address = address;
    this.exitCode = exitCode;
  }

  static async start(
    args: readonly string[] = ['--listen', 'ws://127.0.0.1:0'],
    env: NodeJS.ProcessEnv = process.env,
  ): Promise<TestServer> {
    const child = spawn(process.execPath, [cordonCli, 'exec-server', ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exitCode = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let printed = '';
    let errors = '';
    child.stdout.on('data', (chunk) => (printed += String(chunk)));
    child.stderr.on('data', (chunk) => (errors += String(chunk)));
    await waitFor('the address of the server', () => printed.includes('\n') || child.exitCode !== null, {
      describe: () => errors,
    });
    assert.equal(child.exitCode, null, errors);
    return new TestServer(child, printed.trim(), exitCode);
  }

  /** Resident memory in MiB. */
  get memory(): number {
    const status = readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  async connect(options: { token?: string; greet?: boolean } = {}): Promise<TestClient> {
    const client = new TestClient(await dial(this.address, options.token));
    if (options.greet ?? true) {
      await client.greet();
    }
    return client;
  }

  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    await this.exitCode;
  }
}

/** To any server that speaks the protocol; the handshake is left to the test. */
export async function openTestClient(address: string): Promise<TestClient> {
  return new TestClient(await dial(address));
}

async function dial(address: string, token?: string): Promise<MessageTransport> {
  if (address.startsWith('unix:')) {
    const socket = connect(address.slice('unix:'.length));
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return linesTransport(socket, socket, 'test');
  }
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(address, { headers, perMessageDeflate: false, maxPayload: 0 });
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return webSocketTransport(socket, 'test');
}

export interface WireMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A client that checks nothing and hides nothing: what it sends, and what comes. */
export class TestClient {
  readonly transport: MessageTransport;
  /** All that is no answer to a call, in the order of arrival. */
  readonly notes: WireMessage[] = [];
  /** In place of {@link notes}. */
  onNote: ((message: WireMessage) => void) | undefined;
  isClosed = false;
  readonly #pending = new Map<string | number, (message: WireMessage) => void>();
  #count = 0;

  constructor(transport: MessageTransport) {
    this.transport = transport;
    transport.onMessage((text) => {
      const message = JSON.parse(text) as WireMessage;
      const answer = message.id === undefined ? undefined : this.#pending.get(message.id);
      if (answer !== undefined) {
        this.#pending.delete(message.id as number);
        answer(message);
      } else if (this.onNote === undefined) {
        this.notes.push(message);
      } else {
        this.onNote(message);
      }
    });
    transport.onClose(() => (this.isClosed = true));
    transport.resume();
  }

  send(message: object): void {
    this.transport.send(JSON.stringify(message));
  }

  /** Resolves with the whole answer, error or not. */
  call(method: string, params: object = {}): Promise<WireMessage> {
    const id = ++this.#count;
    const answer = new Promise<WireMessage>((resolve) => this.#pending.set(id, resolve));
    this.send({ id, method, params });
    return answer;
  }

  /** Expects a result. */
  async ok(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const { result, error } = await this.call(method, params);
    assert.ok(result, `${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Expects an error, and gives its code. */
  async code(method: string, params: object = {}): Promise<number> {
    const { result, error } = await this.call(method, params);
    assert.ok(error, `${method}: ${JSON.stringify(result)}`);
    return error.code;
  }

  async greet(resumeSessionId?: string): Promise<string> {
    const { sessionId } = await this.ok('initialize', {
      clientName: 'test',
      ...(resumeSessionId !== undefined && { resumeSessionId }),
    });
    this.send({ method: 'initialized' });
    return sessionId as string;
  }

  start(processId: string, argv: readonly string[], extra: object = {}): Promise<WireMessage> {
    return this.call('process/start', startParams(processId, argv, extra));
  }

  /** Starts a script of sh and expects it to start. */
  async script(processId: string, script: string, extra: object = {}): Promise<void> {
    const { error } = await this.start(processId, ['/bin/sh', '-c', script], extra);
    assert.equal(error, undefined);
  }

  eventsOf(processId: string): readonly WireMessage[] {
    return this.notes.filter(({ params }) => params?.['processId'] === processId);
  }

  outputOf(processId: string): Buffer {
    return Buffer.concat(
      this.eventsOf(processId)
        .filter(({ method }) => method === 'process/output')
        .map(({ params }) => Buffer.from(String(params?.['chunk']), 'base64')),
    );
  }

  /** Resolves with the exit code when the process is closed. */
  async closed(processId: string): Promise<number> {
    const of = (method: string) =>
      this.notes.find((note) => note.method === method && note.params?.['processId'] === processId);
    await waitFor(`the end of ${processId}`, () => of('process/closed') !== undefined);
    return Number(of('process/exited')?.params?.['exitCode']);
  }

  close(): void {
    this.transport.close();
  }
}

export function startParams(processId: string, argv: readonly string[], extra: object = {}): object {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  return { processId, argv, cwd: pathToFileURL('/').href, env, tty: false, ...extra };
}
