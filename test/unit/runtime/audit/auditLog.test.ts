import assert from 'node:assert/strict';
import { chmod, chown, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AuditLog } from '../../../../src/runtime/audit/auditLog.ts';
import type { AuditFailure, AuditLogOptions } from '../../../../src/runtime/audit/auditLog.ts';
import { auditFileName, defaultAuditLimits } from '../../../../src/runtime/audit/auditFiles.ts';
import { silentLog } from '../../../../src/base/log.ts';
import { commandsOf, decisionOn, endOf, readAll } from '../../../harness/auditEvents.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { cannotRunUnprivileged, nobody, runUnprivileged } from '../../../harness/unprivileged.ts';

const day = 24 * 60 * 60_000;

describe('AuditLog', () => {
  let temporary: TemporaryFolder;
  let folder: string;
  const logs: AuditLog[] = [];

  beforeEach(async () => {
    temporary = await createTemporaryFolder('audit');
    folder = join(temporary.path, 'deep', 'audit');
  });
  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.dispose()));
    await temporary.dispose();
  });

  const open = (options: Partial<AuditLogOptions> = {}): AuditLog => {
    const log = new AuditLog({ folder, environment: {}, log: silentLog, ...options });
    logs.push(log);
    return log;
  };

  const filesIn = async (): Promise<readonly string[]> => (await readdir(folder)).sort();

  it('writes one line for each entry, in order, into a file that only its owner reads', async () => {
    const log = open();
    log.record(decisionOn('one'));
    log.record(decisionOn('two', { decision: 'ask', by: 'rule' }));
    log.record(
      endOf('one', { denials: [{ clause: 'files', path: '/x' }], signal: 'SIGKILL', exitCode: 137 }),
    );
    await log.flush();
    const [name = ''] = await filesIn();
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n');
    assert.equal(lines.pop(), '');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      entries.map(({ kind, command, version }) => [kind, command, version]),
      [
        ['start', undefined, 1],
        ['decision', 'one', 1],
        ['decision', 'two', 1],
        ['end', 'one', 1],
      ],
    );
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
  });

  it('has written nothing when record() returns, so that no command waits', async () => {
    const log = open();
    log.record(decisionOn('one'));
    await assert.rejects(readdir(folder), { code: 'ENOENT' });
    await log.flush();
    assert.deepEqual(commandsOf((await readAll(folder)).entries), ['one']);
  });

  it('leaves no secret in any field', async () => {
    const secret = 'correct horse battery';
    const log = open({ environment: { MY_TOKEN: secret } });
    log.record(
      decisionOn(`echo "${secret}"`, {
        cwd: `/w/${secret}`,
        root: `/w/${secret}`,
        reason: `because of ${secret}`,
        judgement: { class: 'ordinary', place: `/home/${secret}:3` },
      }),
    );
    log.record(
      endOf(`echo ${secret}`, { denials: [{ path: `/tmp/${secret}` }, { host: secret }], failure: secret }),
    );
    log.record({
      kind: 'grant',
      id: 'g',
      root: '/w',
      what: { kind: 'prefix', words: ['echo', secret] },
      lasts: 'root',
      because: `X_TOKEN=other echo ${secret}`,
    });
    await log.flush();
    const [name = ''] = await filesIn();
    const text = await readFile(join(folder, name), 'utf8');
    assert.equal(text.split('[redacted]').length - 1, 12);
    assert.doesNotMatch(text, /correct horse battery|other/);
  });

  it('shortens what is too long for a line', async () => {
    const log = open();
    log.record(decisionOn(`echo ${'x'.repeat(100_000)}`));
    await log.flush();
    const [command = ''] = commandsOf((await readAll(folder)).entries);
    assert.equal(command.length < 17_000, true);
    assert.match(command, /^echo x+ \[… 83621 more characters\]$/);
  });

  it('begins another file when one is full, and removes the oldest beyond the cap', async () => {
    const limits = { maxFileBytes: 2_000, maxTotalBytes: 8_000, maxAgeMs: day };
    const log = open({ limits });
    for (let index = 0; index < 100; index += 1) {
      log.record(decisionOn(`command ${index}`));
    }
    await log.flush();
    const sizes = await Promise.all(
      (await filesIn()).map(async (name) => (await stat(join(folder, name))).size),
    );
    assert.ok(sizes.length >= 3 && sizes.every((size) => size <= 2_000), String(sizes));
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 8_000);
    const commands = commandsOf((await readAll(folder)).entries);
    assert.deepEqual(
      commands,
      commands.map((_, index) => `command ${99 - index}`),
    );
    assert.ok(commands.length > 10 && commands.length < 40, String(commands.length));
  });

  it('removes what is too old, but never what a living process is writing', async () => {
    const living = open();
    living.record(decisionOn('of another window'));
    await living.flush();
    const old = new Date(Date.now() - 2 * day);
    const dead = auditFileName(old.getTime(), '0'.repeat(12));
    const start = {
      version: 1,
      at: old.toISOString(),
      kind: 'start',
      pid: process.pid,
      started: 'another boot:1',
    };
    await writeFile(join(folder, dead), `${JSON.stringify(start)}\n`);
    const cutOff = auditFileName(old.getTime(), '1'.repeat(12));
    await writeFile(join(folder, cutOff), '{"version":1,"at"');
    await writeFile(join(folder, 'notes.txt'), 'mine');
    for (const name of await filesIn()) {
      await utimes(join(folder, name), old, old);
    }
    const log = open({ limits: { ...defaultAuditLimits, maxAgeMs: day } });
    log.record(decisionOn('of this window'));
    await log.flush();
    const names = await filesIn();
    assert.equal(names.length, 3);
    assert.ok(names.includes('notes.txt') && !names.includes(dead) && !names.includes(cutOff));
    assert.deepEqual([...commandsOf((await readAll(folder)).entries)].sort(), [
      'of another window',
      'of this window',
    ]);
  });

  it('lets two write at once', async () => {
    const [one, other] = [open(), open()];
    for (let index = 0; index < 50; index += 1) {
      one.record(decisionOn(`one ${index}`));
      other.record(decisionOn(`other ${index}`));
      if (index % 10 === 0) {
        await Promise.all([one.flush(), other.flush()]);
      }
    }
    await Promise.all([one.flush(), other.flush()]);
    const { entries, damage } = await readAll(folder);
    const commands = commandsOf(entries);
    for (const name of ['one', 'other']) {
      assert.deepEqual(
        commands.filter((command) => command.startsWith(`${name} `)),
        Array.from({ length: 50 }, (_, index) => `${name} ${49 - index}`),
      );
    }
    assert.deepEqual(
      entries.map(({ at }) => at),
      entries
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    );
    assert.equal(damage.bytes, 0);
  });

  it('goes on in a new file when somebody removed its own', async () => {
    const log = open();
    log.record(decisionOn('one'));
    await log.flush();
    await rm(folder, { recursive: true });
    log.record(decisionOn('two'));
    await log.flush();
    assert.deepEqual(commandsOf((await readAll(folder)).entries), ['two']);
  });

  it('tells once that it cannot write, keeps what waits, and counts what is too much', async () => {
    const errors: string[] = [];
    const failures: AuditFailure[] = [];
    const log = open({ log: { ...silentLog, error: (message) => errors.push(message) } });
    log.onDidFail((failure) => failures.push(failure));
    await writeFile(join(temporary.path, 'deep'), 'in the way');
    log.record(decisionOn('one'));
    await log.flush();
    for (let index = 0; index < 90; index += 1) {
      log.record(decisionOn(`${index} ${'x'.repeat(100_000)}`));
    }
    await log.flush();
    assert.equal(errors.length, 1);
    assert.equal(failures.length, 1);
    assert.match(
      failures[0]?.message ?? '',
      /^The audit log in .*audit cannot be written: .*(ENOTDIR|EEXIST)/,
    );
    await rm(join(temporary.path, 'deep'));
    log.record(decisionOn('two'));
    await log.flush();
    const { entries } = await readAll(folder);
    const kept = entries.filter(({ kind }) => kind === 'decision').length;
    const gap = entries.find((entry) => entry.kind === 'gap');
    assert.equal(kept + (gap?.lost ?? 0), 92);
    assert.ok(kept > 80 && gap !== undefined && gap.lost > 1);
    assert.equal(entries.indexOf(gap), 1, 'it says where they are missing');
    log.record(decisionOn('three'));
    await log.flush();
    assert.equal(commandsOf((await readAll(folder)).entries)[0], 'three');
    assert.equal(errors.length, 1);
  });

  it('writes what waits when it ends, and takes nothing after', async () => {
    const log = open();
    log.record(decisionOn('one'));
    await log.dispose();
    log.record(decisionOn('two'));
    await log.flush();
    assert.deepEqual(commandsOf((await readAll(folder)).entries), ['one']);
  });

  it('goes on when a folder that was read-only is writable', async function () {
    if (cannotRunUnprivileged !== undefined) {
      this.skip();
    }
    await chmod(temporary.path, 0o755);
    await chown(temporary.path, nobody, nobody);
    const result = runUnprivileged(
      `import { chmodSync } from 'node:fs';
       import { AuditLog } from './src/runtime/audit/auditLog.ts';
       import { silentLog } from './src/base/log.ts';
       import { commandsOf, decisionOn, readAll } from './test/harness/auditEvents.ts';
       const folder = process.env.AUDIT_FOLDER;
       const log = new AuditLog({ folder, environment: {}, log: silentLog });
       const failures = [];
       log.onDidFail(({ message }) => failures.push(message));
       chmodSync(folder, 0o500);
       log.record(decisionOn('one'));
       await log.flush();
       log.record(decisionOn('two'));
       await log.flush();
       const before = (await readAll(folder)).entries.length;
       chmodSync(folder, 0o700);
       log.record(decisionOn('three'));
       await log.dispose();
       console.log(JSON.stringify({ before, failures, commands: commandsOf((await readAll(folder)).entries) }));`,
      { AUDIT_FOLDER: temporary.path },
    ) as { before: number; failures: readonly string[]; commands: readonly string[] };
    assert.equal(result.before, 0);
    assert.equal(result.failures.length, 1);
    assert.match(result.failures[0] ?? '', /EACCES/);
    assert.deepEqual(result.commands, ['three', 'two', 'one']);
  });
});
