import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isBelow, isInside } from '../paths.ts';
import { accessTo } from '../policy/fileRules.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import { protectedNames } from '../policy/protectedNames.ts';
import { temporaryFolders } from '../temporaryFolders.ts';

/** What the probes attack: files, sockets and a process of the self-test's own, outside of the sandbox. */
export interface Grounds extends AsyncDisposable {
  /** A file that the policy does not make writable, and that its user may write. */
  readonly outsideFile: string;
  /** A name in the root that does not exist. */
  readonly insideFile: string;
  /** A name that a command must not make: protected, or, where nothing is writable, any. */
  readonly protectedPath: string;
  /** Something that exists and that the policy hides. */
  readonly hidden: { readonly path: string; readonly kind: 'file' | 'folder' } | undefined;
  readonly temporaryFile: string;
  /** A TCP server on the machine's loopback. */
  readonly port: number;
  readonly socketPath: string;
  readonly abstractName: string;
  /** A process that waits. */
  readonly victim: number;
}

/** Makes the grounds for a policy. Throws when this user can write nowhere outside of the policy's folders. */
export async function openGrounds(policy: SandboxPolicy, companion: string): Promise<Grounds> {
  const owned: (() => void)[] = [];
  try {
    const outside = makeOutside(policy);
    owned.push(() => rmSync(outside, { recursive: true, force: true }));
    const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-self-test-')));
    owned.push(() => rmSync(temporary, { recursive: true, force: true }));
    const outsideFile = join(outside, 'file');
    const temporaryFile = join(temporary, 'file');
    writeFileSync(outsideFile, 'outside\n', { mode: 0o600 });
    writeFileSync(temporaryFile, 'temporary\n', { mode: 0o600 });

    const listening = async (where: object): Promise<Server> => {
      const server = createServer((socket) => socket.end());
      owned.push(() => server.close());
      server.listen(where);
      await once(server, 'listening');
      return server;
    };
    const socketPath = join(policy.tmp === 'private' ? temporary : outside, 'socket');
    const abstractName = basename(outside);
    const [tcp] = await Promise.all([
      listening({ host: '127.0.0.1', port: 0 }),
      listening({ path: socketPath }),
      listening({ path: `\0${abstractName}` }),
    ]);
    const victim = await startVictim(companion);
    owned.push(() => victim.kill('SIGKILL'));
    return {
      outsideFile,
      insideFile: join(policy.root, basename(outside)),
      protectedPath: protectedPathOf(policy, basename(outside)),
      hidden: findHidden(policy),
      temporaryFile,
      port: (tcp.address() as AddressInfo).port,
      socketPath,
      abstractName,
      victim: victim.pid as number,
      [Symbol.asyncDispose]: async () => end(owned),
    };
  } catch (error) {
    end(owned);
    throw error;
  }
}

function end(owned: readonly (() => void)[]): void {
  for (const dispose of owned.toReversed()) {
    dispose();
  }
}

/** Rather where the policy lets commands read: what is hidden cannot be written in any sandbox. */
function makeOutside(policy: SandboxPolicy): string {
  const places = [dirname(policy.root), homedir(), tmpdir()].flatMap((place) => realPathOf(place));
  const isOwn = (place: string): boolean =>
    policy.tmp === 'private' && temporaryFolders().some((folder) => isInside(place, folder));
  const isReadable = (place: string): boolean => accessTo(policy, place) === 'read' && !isOwn(place);
  const notWritable = places.filter((place) => accessTo(policy, place) !== 'write');
  for (const place of [...notWritable.filter(isReadable), ...notWritable]) {
    try {
      return mkdtempSync(join(place, '.cordon-self-test-'));
    } catch {
      // Not for this user to write: the next may do.
    }
  }
  throw new Error(`the self-test can write in none of ${places.join(', ')} outside of the policy's folders`);
}

function realPathOf(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    // This machine has no such folder.
    return [];
  }
}

async function startVictim(companion: string): Promise<ChildProcess> {
  const victim = spawn(companion, ['--probe', 'wait'], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(victim, 'spawn');
  return victim;
}

/** A missing name, so that nothing of the person's is touched even if the sandbox fails; or one in an existing folder. */
function protectedPathOf({ mode, root }: SandboxPolicy, unique: string): string {
  if (mode !== 'workspace-write') {
    return join(root, unique);
  }
  const missing = protectedNames.find((name) => !exists(join(root, name)));
  return missing === undefined ? join(root, '.vscode', unique) : join(root, missing);
}

/** Something in a hidden folder rather than the folder: where people live it may be listed, but shows only what is opened. */
function findHidden(policy: SandboxPolicy): Grounds['hidden'] {
  const places = policy.files.filter(({ access }) => access === 'none').map(({ path }) => path);
  const candidates = [...places.flatMap(entriesOf), ...places];
  for (const path of candidates.filter((path) => !policy.files.some((rule) => isBelow(rule.path, path)))) {
    const entry = accessTo(policy, path) === 'none' ? lookUp(path) : undefined;
    if (entry !== undefined && !entry.isSymbolicLink()) {
      return { path, kind: entry.isDirectory() ? 'folder' : 'file' };
    }
  }
  return undefined;
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    // Not a folder, or not this user's.
    return [];
  }
}

function lookUp(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Behind a folder that this user may not enter.
    return undefined;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
