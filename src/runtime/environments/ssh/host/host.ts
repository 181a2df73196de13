import { readdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRuntimeFolder } from '../../../../sandbox/linux/runtimeFolder.ts';
import type { BundleFile, HostAnswer, HostProblem, HostRequest, UploadHeader } from '../hostWords.ts';
import { StreamInput } from '../streamInput.ts';
import { BadUpload, installBundle, markUsed, removeUnused } from './installBundle.ts';
import { makeOwnFolder } from './ownFolder.ts';
import { NoServer, reachServer } from './reachServer.ts';
import { whyNotIntact } from './verifyBundle.ts';

const dayMs = 24 * 60 * 60 * 1000;
const longestRequest = 1024 * 1024;

/**
 * What runs on a host at the other end of ssh: makes sure that the bundle there is the one that was asked for, file by
 * file, and joins standard input and output with its server. It was sent over the connection itself, so that no file of
 * the host has a say in whether the files of the host are to be trusted.
 *
 * `word` begins every line of it.
 */
export async function serveHost(word: string): Promise<void> {
  const input = new StreamInput(process.stdin);
  const answer = (said: HostAnswer): void => {
    process.stdout.write(`\n${word} ${JSON.stringify(said)}\n`);
  };
  try {
    const request = JSON.parse(await input.line(longestRequest)) as HostRequest;
    requirePlatform(request.files);
    const folder = await intactBundle(request, input, answer);
    const runtime = openRuntimeFolder({}, tmpdir());
    if (!runtime.ok) {
      throw new NoServer(runtime.error.message);
    }
    const path = join(runtime.value, request.name);
    const server = await reachServer(folder, `${path}.sock`, `${path}.log`);
    answer({ kind: 'ready', folder });
    // Nobody else is to think that it is unused as long as this goes on.
    setInterval(() => markUsed(folder), dayMs).unref();
    input.rest().pipe(server);
    server.pipe(process.stdout);
    server.on('close', () => process.exit(0)).on('error', () => process.exit(1));
    process.stdout.on('error', () => process.exit(0));
  } catch (error) {
    const [problem, detail] = problemOf(error);
    answer({ kind: 'problem', problem, detail });
    process.stdin.destroy();
  }
}

class WrongPlatform extends Error {}

function problemOf(error: unknown): readonly [HostProblem, string] {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof WrongPlatform) return ['platform', detail];
  if (error instanceof BadUpload) return ['upload', detail];
  if (error instanceof NoServer) return ['server', detail];
  return ['install-folder', detail];
}

function requirePlatform(files: readonly BundleFile[]): void {
  const name = `${process.platform}-${process.arch}`;
  const has = (part: string): boolean => files.some(({ path }) => path.includes(part));
  if (!has(`/prebuilds/${name}/`) || (process.platform === 'linux' && !has(`helper/launch-${name}`))) {
    throw new WrongPlatform(name);
  }
}

async function intactBundle(
  { name, files, installFolder }: HostRequest,
  input: StreamInput,
  answer: (said: HostAnswer) => void,
): Promise<string> {
  const all = makeOwnFolder(installFolder ?? join(homedir(), '.cache', 'cordon', 'server'));
  const folder = join(all, name);
  const because = readdirSync(all).includes(name) ? whyNotIntact(folder, files) : 'it is not installed';
  if (because !== undefined) {
    answer({ kind: 'upload', because });
    const { bytes } = JSON.parse(await input.line(longestRequest)) as UploadHeader;
    installBundle(folder, files, await input.bytes(bytes));
  }
  markUsed(folder);
  removeUnused(all, folder);
  return folder;
}
