import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { silentLog } from '../../src/base/log.ts';
import { AuditLog } from '../../src/runtime/audit/auditLog.ts';
import type { AuditFailure } from '../../src/runtime/audit/auditLog.ts';
import { commandsOf, decisionOn, readAll } from '../harness/auditEvents.ts';
import { Random } from '../harness/random.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';

const fixture = join(import.meta.dirname, '../fixtures/auditWriter.ts');

describe('The audit log', () => {
  let temporary: TemporaryFolder;
  let folder: string;
  let memory = '';

  beforeEach(async () => {
    temporary = await createTemporaryFolder('audit');
    folder = join(temporary.path, 'audit');
  });
  afterEach(async () => {
    await temporary.dispose();
    if (memory !== '') {
      await rm(memory, { recursive: true });
    }
    memory = '';
  });

  it('loses at most the entry that was being written when its process is killed, a hundred times', async function () {
    this.timeout(180_000);
    // In memory: on a disk nearly all of the time would be spent in waiting for it, and hardly ever in a write.
    memory = await mkdtemp('/dev/shm/cordon-audit-');
    // As one file it starts in a fraction of the time.
    const writer = join(temporary.path, 'writer.mjs');
    await build({
      entryPoints: [fixture],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: writer,
      banner: { js: requireBanner },
    });
    const random = new Random(9);
    const taken = new Map<number, number>();
    const kill = async (): Promise<void> => {
      const { pid, last } = await writeUntilKilled(
        [writer, memory],
        random.integer(1, 100),
        random.next() * 3,
      );
      taken.set(pid, last);
    };
    for (let round = 0; round < 50; round += 1) {
      await Promise.all([kill(), kill()]);
    }
    assert.equal(taken.size, 100);
    const { entries, damage } = await readAll(memory);
    const found = new Map<number, number[]>();
    for (const command of commandsOf(entries).toReversed()) {
      const [pid = 0, index = 0] = command.split(' ').map(Number);
      found.set(pid, [...(found.get(pid) ?? []), index]);
    }
    for (const [pid, last] of taken) {
      const indexes = found.get(pid) ?? [];
      assert.deepEqual(
        indexes,
        indexes.map((_, index) => index),
        `${pid}: no entry is missing, none comes twice`,
      );
      assert.ok(
        [last + 1, last + 2].includes(indexes.length),
        `${pid}: ${indexes.length} of ${last + 1} entries`,
      );
    }
    assert.ok(damage.lines <= 100, `${damage.lines} damaged lines`);
    const log = new AuditLog({ folder: memory, environment: {}, log: silentLog });
    log.record(decisionOn('after all of them'));
    await log.dispose();
    assert.equal(commandsOf((await readAll(memory)).entries)[0], 'after all of them');
  });

  it('keeps everything through a full disk', async function () {
    await mkdir(folder);
    if (!tryMount(folder)) {
      console.log('      skipped: mounting a small disk needs the rights of root');
      this.skip();
    }
    try {
      const log = new AuditLog({ folder, environment: {}, log: silentLog });
      const failures: AuditFailure[] = [];
      log.onDidFail((failure) => failures.push(failure));
      const commands = Array.from({ length: 200 }, (_, index) => `${index} ${'x'.repeat(777)}`);
      await writeFile(join(folder, 'ballast'), 'x'.repeat(60_000));
      for (const command of commands) {
        log.record(decisionOn(command));
        if (command.startsWith('100 ')) {
          await log.flush();
        }
      }
      await log.flush();
      assert.equal(failures.length, 1);
      assert.match(failures[0]?.message ?? '', /ENOSPC/);
      const before = commandsOf((await readAll(folder)).entries);
      assert.ok(before.length > 10 && before.length < 200, String(before.length));
      await rm(join(folder, 'ballast'));
      execFileSync('mount', ['-o', 'remount,size=1m', folder]);
      log.record(decisionOn('last'));
      await log.dispose();
      const { entries, damage } = await readAll(folder);
      assert.deepEqual(commandsOf(entries), [...commands, 'last'].toReversed());
      assert.ok(damage.lines >= 1, 'what the disk took of an entry stays');
      assert.equal((await readdir(folder)).length, 1);
    } finally {
      execFileSync('umount', [folder]);
    }
  });
});

/** For CommonJS in a bundle of modules. */
const requireBanner =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** Kills a writer at some moment after it has written a number of entries; gives the last that it had taken. */
async function writeUntilKilled(
  argv: readonly string[],
  count: number,
  delayMs: number,
): Promise<{ readonly pid: number; readonly last: number }> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let last = -1;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (last === count) {
      setTimeout(() => child.kill('SIGKILL'), delayMs);
    }
  }
  await closed;
  return { pid: child.pid ?? 0, last };
}

function tryMount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'none', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
