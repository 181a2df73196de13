import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import type { Log } from '../../../base/log.ts';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { EnvironmentError } from '../environment.ts';
import type { HostRequest, UploadHeader } from './hostWords.ts';
import { hostProblems } from './hostWords.ts';
import type { ServerBundle } from './serverBundle.ts';
import { launchScript, sshArguments } from './sshCommand.ts';
import { whyNoConnection, whyNoServer } from './sshProblems.ts';
import type { SshSettings } from './sshSettings.ts';
import { StreamInput } from './streamInput.ts';

export interface SshDialOptions {
  readonly settings: SshSettings;
  readonly bundle: ServerBundle;
  /** The program that is sent, see `host/host.ts`. */
  readonly hostProgram: Buffer;
  readonly log: Log;
  readonly signal?: AbortSignal;
}

/** A connection that is the server's from here on. */
export interface SshConnection {
  readonly input: Writable;
  /** Paused. */
  readonly output: Readable;
  readonly close: () => void;
}

/** For everything before the server speaks, an installation over a slow line included. */
const patienceMs = 180_000;
const longestAnswer = 64 * 1024;
const lastWordsMs = 500;
const longestComplaint = 8 * 1024;

const hostAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('upload'), because: z.string() }),
  z.object({ kind: z.literal('ready'), folder: z.string() }),
  z.object({ kind: z.literal('problem'), problem: z.enum(hostProblems), detail: z.string() }),
]);

/** Connects to the server on a host by way of the system's ssh; installs and starts it where that is needed. */
export async function dialSsh(options: SshDialOptions): Promise<Result<SshConnection, EnvironmentError>> {
  const { settings, hostProgram, log, signal } = options;
  signal?.throwIfAborted();
  const word = randomBytes(12).toString('hex');
  const script = Buffer.from(launchScript(word, hostProgram.length, settings.nodePath));
  const child = spawn(settings.sshPath ?? 'ssh', sshArguments(settings.host, script.length), {
    stdio: 'pipe',
    // Its words are read; and nobody is there to see a window that asks.
    env: { ...process.env, LC_ALL: 'C', SSH_ASKPASS_REQUIRE: 'never' },
  });
  const ended = endOf(child);
  const close = (): void => {
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.destroy();
    }
    child.kill();
  };
  const timer = setTimeout(close, patienceMs);
  signal?.addEventListener('abort', close, { once: true });
  try {
    child.stdin.write(Buffer.concat([script, hostProgram]));
    const input = new StreamInput(child.stdout);
    const ready = await handshake(child.stdin, input, word, options);
    if (ready.ok) {
      return ok({ input: child.stdin, output: input.rest(), close });
    }
    close();
    return ready;
  } catch (error) {
    child.stdin.destroy();
    child.kill(); // a host that talks too much would go on
    const { startError, stderr } = await ended;
    log.debug(`ssh ${settings.host}: ${String(startError ?? error)} ${stderr}`);
    return fail(
      startError === undefined ? whyNoConnection(settings.host, stderr) : noSsh(settings, startError),
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', close);
  }
}

/** Until the connection is the server's; rejects when it ends before. */
async function handshake(
  stdin: Writable,
  input: StreamInput,
  word: string,
  { settings, bundle, log }: SshDialOptions,
): Promise<Result<void, EnvironmentError>> {
  const { name, files } = bundle;
  const { host, installFolder } = settings;
  const request: HostRequest = { name, files, ...(installFolder !== undefined && { installFolder }) };
  stdin.write(`${JSON.stringify(request)}\n`);
  for (;;) {
    const answer = await nextAnswer(input, word);
    switch (answer.kind) {
      case 'problem':
        return fail(whyNoServer(settings, answer.problem, answer.detail));
      case 'ready':
        return ok(undefined);
      case 'upload': {
        const packed = await bundle.pack();
        log.info(`installing ${name} on ${host} (${packed.length} bytes): ${answer.because}`);
        const header: UploadHeader = { bytes: packed.length };
        stdin.write(`${JSON.stringify(header)}\n`);
        stdin.write(packed);
      }
    }
  }
}

/** The next line that begins with the word; what a login shell prints before it is skipped. */
async function nextAnswer(input: StreamInput, word: string): Promise<z.infer<typeof hostAnswer>> {
  const mark = `${word} `;
  for (let skipped = 0; skipped < longestAnswer;) {
    const line = await input.line(longestAnswer);
    if (line.startsWith(mark)) {
      return hostAnswer.parse(JSON.parse(line.slice(mark.length)));
    }
    skipped += line.length + 1;
  }
  throw new Error(`the host prints more than ${longestAnswer} characters before it runs a command`);
}

interface SshEnd {
  /** ssh itself cannot be run. */
  readonly startError: NodeJS.ErrnoException | undefined;
  /** The last of it. */
  readonly stderr: string;
}

function endOf(child: ChildProcessWithoutNullStreams): Promise<SshEnd> {
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-longestComplaint);
  });
  // What follows when the other side is gone; the end of the output tells.
  child.stdin.on('error', () => undefined);
  child.stdout.on('error', () => undefined);
  return new Promise((resolve) => {
    child.once('error', (startError) => resolve({ startError, stderr }));
    const end = (): void => resolve({ startError: undefined, stderr });
    child.once('close', end);
    // A proxy command of the person's may go on, and holds the stream.
    child.once('exit', () => setTimeout(end, lastWordsMs).unref());
  });
}

function noSsh({ sshPath }: SshSettings, { code = '' }: NodeJS.ErrnoException): EnvironmentError {
  return {
    kind: 'invalid-settings',
    message: `${sshPath ?? 'ssh'} cannot be run: ${code}.`,
    hint:
      sshPath === undefined
        ? 'Install OpenSSH on this machine, or name it in "sshPath" of the environment.'
        : 'Correct "sshPath" of the environment.',
  };
}
