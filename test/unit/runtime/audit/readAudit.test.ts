import assert from 'node:assert/strict';
import { mkdir, readdir, readlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditEvent } from '../../../../src/runtime/audit/auditEntry.ts';
import { auditFileName } from '../../../../src/runtime/audit/auditFiles.ts';
import type { AuditFilter } from '../../../../src/runtime/audit/auditFilter.ts';
import { AuditLog } from '../../../../src/runtime/audit/auditLog.ts';
import { silentLog } from '../../../../src/base/log.ts';
import { readAudit } from '../../../../src/runtime/audit/readAudit.ts';
import { commandsOf, decisionOn, endOf, readAll } from '../../../harness/auditEvents.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

describe('readAudit()', () => {
  let temporary: TemporaryFolder;
  let folder: string;

  beforeEach(async () => {
    temporary = await createTemporaryFolder('audit');
    folder = temporary.path;
  });
  afterEach(() => temporary.dispose());

  const file = (writer: number): string =>
    join(folder, auditFileName(Date.UTC(2026, 0, 1), String(writer).repeat(12)));
  const line = (second: number, event: AuditEvent): string =>
    `${JSON.stringify({ version: 1, at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(), ...event })}\n`;

  it('gives the entries of all files, newest first', async () => {
    await writeFile(file(1), [1, 4, 5].map((second) => line(second, decisionOn(`${second}`))).join(''));
    await writeFile(file(2), [2, 3, 6].map((second) => line(second, decisionOn(`${second}`))).join(''));
    await writeFile(file(3), '');
    await writeFile(join(folder, 'other.jsonl'), line(7, decisionOn('7')));
    await mkdir(file(4));
    const { entries, damage } = await readAll(folder);
    assert.deepEqual(commandsOf(entries), ['6', '5', '4', '3', '2', '1']);
    assert.deepEqual(damage, { bytes: 0, lines: 0, files: [] });
  });

  it('has nothing to give when there is no log', async () => {
    assert.deepEqual((await readAll(join(folder, 'none'))).entries, []);
  });

  it('loses only the entry that is cut off, wherever that is, and a new writer goes on', async () => {
    const events = [
      decisionOn('ünïcode ✂'),
      endOf('two', { denials: [{ clause: 'hosts', host: 'example.org' }] }),
      decisionOn('three', { decision: 'refuse', by: 'rule', reason: 'a "rule"' }),
    ];
    const lines = events.map((event, index) => line(index, event));
    const whole = Buffer.from(lines.join(''));
    const ends = lines.map((_, index) => Buffer.byteLength(lines.slice(0, index + 1).join('')));
    await writeFile(file(1), whole);
    const next = new AuditLog({ folder, environment: {}, log: silentLog });
    for (let size = whole.length; size >= 0; size -= 1) {
      await truncate(file(1), size);
      if (size % 100 === 0) {
        next.record(decisionOn(`cut at ${size}`));
        await next.flush();
      }
      const { entries, damage } = await readAll(folder);
      // A line whose newline alone is missing is whole.
      const complete = ends.filter((end) => end - 1 <= size).length;
      const kept = entries.filter(({ at }) => at.startsWith('2026-01-01'));
      assert.equal(kept.length, complete, `cut off at ${size}`);
      const start = ends.findLast((end) => end <= size) ?? 0;
      const isTorn = !ends.includes(size) && !ends.includes(size + 1) && size > 0;
      assert.deepEqual(
        [damage.bytes, damage.lines],
        isTorn ? [size - start, 1] : [0, 0],
        `cut off at ${size}`,
      );
      assert.equal(
        commandsOf(entries).filter((command) => command.startsWith('cut at')).length,
        Math.floor(whole.length / 100) - Math.ceil(size / 100) + 1,
      );
    }
    await next.dispose();
  });

  it('passes by damaged lines, and says how much of them there was', async () => {
    const bad = [
      'not JSON\n',
      '{"version":1}\n',
      line(2, decisionOn('x')).replace('"version":1', '"version":2'),
      line(3, { ...decisionOn('x'), decision: 'maybe' } as unknown as AuditEvent),
      `${'x'.repeat(3 * 1024 * 1024)}\n`,
      '\0\0\0\0\n',
    ];
    await writeFile(
      file(1),
      [line(1, decisionOn('first')), ...bad, '\n', line(9, decisionOn('last'))].join(''),
    );
    const { entries, damage } = await readAll(folder);
    assert.deepEqual(commandsOf(entries), ['last', 'first']);
    assert.equal(damage.lines, bad.length);
    assert.equal(damage.bytes, bad.join('').length - bad.length);
  });

  it('reads lines that lie across the borders of what is read at once', async () => {
    const commands = Array.from(
      { length: 300 },
      (_, index) => `${index} ${'é'.repeat((index * 37) % 1_000)}`,
    );
    await writeFile(file(1), commands.map((command, index) => line(index, decisionOn(command))).join(''));
    assert.deepEqual(commandsOf((await readAll(folder)).entries), commands.toReversed());
  });

  it('closes what it opened when somebody stops early', async () => {
    await writeFile(file(1), [1, 2, 3].map((second) => line(second, decisionOn(`${second}`))).join(''));
    await writeFile(file(2), [1, 2, 3].map((second) => line(second, decisionOn(`${second}`))).join(''));
    for await (const entry of readAudit(folder).entries) {
      assert.equal(entry.kind, 'decision');
      break;
    }
    const open = (await readdir('/proc/self/fd')).map((fd) =>
      readlink(`/proc/self/fd/${fd}`).catch(() => ''),
    );
    assert.deepEqual(
      (await Promise.all(open)).filter((path) => path.startsWith(folder)),
      [],
    );
  });

  describe('filters', () => {
    beforeEach(() =>
      writeFile(
        file(1),
        [
          decisionOn('npm test'),
          decisionOn('npm publish', { decision: 'ask' }),
          decisionOn('npm publish', { decision: 'refuse', by: 'person' }),
          decisionOn('ls', { root: '/v' }),
          endOf('NPM test', { denials: [{ clause: 'network' }] }),
          endOf('ls', { root: '/v' }),
        ]
          .map((event, index) => line(index, event))
          .join(''),
      ),
    );
    const second = (count: number): number => Date.UTC(2026, 0, 1, 0, 0, count);
    const cases: readonly (readonly [name: string, filter: AuditFilter, seconds: readonly number[]])[] = [
      ['nothing', {}, [5, 4, 3, 2, 1, 0]],
      ['a root', { root: '/v' }, [5, 3]],
      ['what was allowed', { outcome: 'allowed' }, [3, 0]],
      ['what was asked', { outcome: 'asked' }, [1]],
      ['what was refused', { outcome: 'refused' }, [2]],
      ['what the sandbox denied', { outcome: 'denied' }, [4]],
      ['a part of the command, in any case', { command: 'Npm T' }, [4, 0]],
      ['time', { since: second(1), until: second(3) }, [3, 2, 1]],
      [
        'all of it',
        { root: '/w', outcome: 'allowed', command: 'npm', since: second(0), until: second(1) },
        [0],
      ],
    ];
    for (const [name, filter, seconds] of cases) {
      it(`by ${name}`, async () => {
        const { entries } = await readAll(folder, filter);
        assert.deepEqual(
          entries.map(({ at }) => new Date(at).getUTCSeconds()),
          seconds,
        );
      });
    }
  });
});
