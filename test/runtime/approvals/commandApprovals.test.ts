import assert from 'node:assert/strict';
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer, Approval } from '../../../src/runtime/approvals/approval.ts';
import type { ApprovalMode, ApprovalPolicy } from '../../../src/runtime/approvals/approvalPolicy.ts';
import { defaultApproval, neverAsk } from '../../../src/runtime/approvals/approvalPolicy.ts';
import type { AuditEvent } from '../../../src/runtime/audit/auditEntry.ts';
import { parseToolInput } from '../../../src/runtime/tools/parseToolInput.ts';
import type { RuleDecision, RuleSet } from '../../../src/sandbox/rules/rule.ts';
import { noRules } from '../../../src/sandbox/rules/rule.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { TestRuntime } from '../../harness/testRuntime.ts';
import { createTestRuntime } from '../../harness/testRuntime.ts';

const mode = (name: ApprovalMode): ApprovalPolicy => ({ ...defaultApproval, mode: name });
const rule = (decision: RuleDecision, ...words: readonly string[]): RuleSet => ({
  ...noRules,
  prefixes: [
    {
      pattern: words.map((word) => [word]),
      decision,
      runs: 'inside',
      justification: 'Because of the test.',
      origin: { source: 'user', place: 'test.rules:1' },
    },
  ],
});

const deciders = (audited: readonly AuditEvent[]): readonly string[] =>
  audited.flatMap((event) => (event.kind === 'decision' ? [event.by] : []));

describe('approvals of commands', () => {
  let outside: TemporaryFolder;
  let runtime: TestRuntime | undefined;
  before(async () => (outside = await createTemporaryFolder('outside')));
  after(() => outside.dispose());
  afterEach(() => runtime?.dispose());

  /** A runtime whose questions are answered by the offer with this id; collects them. */
  async function setUp(
    options: { approval?: ApprovalPolicy; rules?: RuleSet; user?: object },
    ...answers: readonly (string | Answer)[]
  ): Promise<{ readonly asked: Approval[]; readonly test: TestRuntime }> {
    const { user = {}, ...rest } = options;
    const test = await createTestRuntime({ files: { [outside.path]: 'read' }, ...user }, process.env, rest);
    runtime = test;
    const asked: Approval[] = [];
    test.approvals.onDidAsk((approval) => {
      const wanted = answers[asked.length];
      asked.push(approval);
      if (answers.length === 0) {
        return;
      }
      const offer = approval.offers.find(({ id }) => id === wanted);
      const answer = typeof wanted === 'object' ? wanted : offer?.answer;
      assert.ok(
        answer,
        `${JSON.stringify(wanted)} is none of ${approval.offers.map(({ id }) => id).join(', ')}`,
      );
      void test.approvals.answer(approval.id, answer);
    });
    return { asked, test };
  }
  /** As from a front end without a card of its own. */
  const run = (test: TestRuntime, cmd: string, input: object = {}) =>
    test.call('exec_command', { cmd, login: false, ...input }, { allow: false });
  const target = (name: string): string => join(outside.path, name);

  it('are not asked for in the sandbox', async () => {
    const { asked, test } = await setUp({});
    assert.match((await run(test, 'echo hello > file && cat file')).text, /exited with code 0[^]*hello/);
    assert.deepEqual(asked, []);
  });

  it('are asked for, with the reason, under "untrusted"; harmless commands just run', async () => {
    const { asked, test } = await setUp({ approval: mode('untrusted') }, 'once', 'deny');
    assert.match((await run(test, 'ls && pwd')).text, /exited with code 0/);
    assert.match((await run(test, 'touch made')).text, /exited with code 0/);
    const refused = await run(test, 'echo $(touch smuggled)');
    assert.equal(refused.isError, true);
    assert.match(refused.text, /the person declined/);
    assert.equal(existsSync(join(test.root, 'made')), true);
    assert.equal(existsSync(join(test.root, 'smuggled')), false);
    assert.deepEqual(
      asked.map(({ commandLine }) => commandLine),
      ['touch made', 'echo $(touch smuggled)'],
    );
    assert.match(asked[0]?.reason ?? '', /not on the list of harmless commands/);
    assert.match(asked[1]?.reason ?? '', /cannot be told for certain/);
  });

  it('let exactly the same command run again when the person says so', async () => {
    const { asked, test } = await setUp({ approval: mode('untrusted') }, 'remember', 'deny');
    await run(test, 'touch made');
    assert.match((await run(test, 'touch made')).text, /exited with code 0/);
    assert.match((await run(test, 'touch made', { tty: true })).text, /declined/);
    assert.equal(asked.length, 2);
  });

  it('let commands run that begin as the person allowed, and nothing that hides behind them', async () => {
    const { asked, test } = await setUp(
      { approval: mode('untrusted') },
      { kind: 'allow', widenings: [], lasts: 'session', prefix: ['mkdir', '-p'] },
      'deny',
    );
    await run(test, 'mkdir -p a/b');
    assert.match((await run(test, 'mkdir -p c/d')).text, /exited with code 0/);
    assert.match((await run(test, 'mkdir -p e; touch smuggled')).text, /declined/);
    assert.equal(asked.length, 2);
    assert.deepEqual(deciders(test.audited), ['policy', 'person', 'grant', 'policy', 'person']);
    await test.grants.revoke(test.grants.list().map(({ id }) => id));
    assert.equal(test.grants.list().length, 0);
  });

  it('follow rules: forbidden ones never run, prompts ask, allowed ones do not', async () => {
    const forbidden = await setUp({ rules: rule('forbidden', 'touch') });
    const refused = await run(forbidden.test, 'if true; then touch made; fi');
    assert.match(refused.text, /“touch” \(test\.rules:1\) forbids touch made\. Because of the test\./);
    await forbidden.test.dispose();

    const prompt = await setUp({ rules: rule('prompt', 'touch') }, 'once');
    assert.match((await run(prompt.test, 'touch made')).text, /exited with code 0/);
    assert.match(prompt.asked[0]?.reason ?? '', /“touch” \(test\.rules:1\) asks/);
    await prompt.test.dispose();

    const allow = await setUp({ rules: rule('allow', 'touch'), approval: mode('untrusted') });
    assert.match((await run(allow.test, 'touch made')).text, /exited with code 0/);
    assert.deepEqual(allow.asked, []);
  });

  it('under "never" refuse what would need a yes, with what to do', async () => {
    const { asked, test } = await setUp({ approval: neverAsk, rules: rule('prompt', 'touch') });
    assert.match(
      (await run(test, 'touch made')).text,
      /none is asked \(cordon\.approvals\.policy is "never"\)/,
    );
    const escalated = await run(test, 'true', {
      sandbox_permissions: 'require_escalated',
      justification: 'May I?',
    });
    assert.match(escalated.text, /none is asked/);
    assert.match((await run(test, 'rm -rf nothing')).text, /none is asked/);
    assert.deepEqual(asked, []);
  });

  it('widen the sandbox for one command by exactly what was asked for', async () => {
    const { asked, test } = await setUp({}, 'once', 'deny');
    const more = {
      sandbox_permissions: 'with_additional_permissions',
      additional_permissions: { file_system: { write: [outside.path] } },
      justification: 'May I write the report?',
    };
    assert.match((await run(test, `echo x > ${target('once')}`, more)).text, /exited with code 0/);
    assert.equal(await readFile(target('once'), 'utf8'), 'x\n');
    assert.equal(asked[0]?.justification, 'May I write the report?');
    assert.match(asked[0]?.reason ?? '', new RegExp(`writing to ${outside.path}`));
    // Without asking for it, it is closed again.
    assert.match((await run(test, `echo x > ${target('again')}`)).text, /Sandbox: [^]*Read-only file system/);
    assert.match((await run(test, `echo x > ${target('again')}`, more)).text, /declined/);
    assert.equal(existsSync(target('again')), false);
  });

  it('tell the agent after a denial which call asks for the path', async () => {
    const { test } = await setUp({});
    const { text } = await run(test, `echo x > ${target('advised')}`);
    const permissions = JSON.stringify({ file_system: { write: [outside.path] } });
    assert.ok(text.includes(`additional_permissions ${permissions}`), text);
  });

  it('under "on-failure" ask after a denial, and run again with what was missing', async () => {
    const { asked, test } = await setUp({ approval: mode('on-failure') }, 'once', 'session', 'deny');
    const { text } = await run(test, `echo x > ${target('retried')} && echo done`);
    assert.match(text, /An earlier run was stopped: [^]*The person allowed it\.[^]*code 0[^]*done/);
    assert.equal(await readFile(target('retried'), 'utf8'), 'x\n');
    assert.deepEqual(
      asked[0]?.offers.map(({ id }) => id),
      ['once', 'session', 'hour', 'root', 'unsandboxed', 'deny'],
    );
    await run(test, `echo x > ${target('granted')}`);
    assert.match((await run(test, `echo y > ${target('granted')}`)).text, /exited with code 0/);
    assert.equal(asked.length, 2);
    const [grant] = test.grants.list();
    assert.ok(grant);
    await test.grants.revoke([grant.id]);
    assert.match(
      (await run(test, `echo z > ${target('granted')}`, { sandbox_permissions: 'use_default' })).text,
      /declined|Read-only file system/,
    );
  });

  it('tell of a no after a denial, with its comment', async () => {
    const comment = 'Use the folder out instead.';
    const { asked, test } = await setUp(
      { approval: mode('on-failure') },
      { kind: 'deny', by: 'person', comment },
      {
        kind: 'deny',
        by: 'expired',
      },
    );
    const { text } = await run(test, `touch ${target('declined')}`);
    assert.match(
      text,
      /^The person was asked [^]*, and declined\. Comment of the person: Use the folder out instead\./,
    );
    assert.match(text, /Read-only file system/);
    assert.match(
      (await run(test, `touch ${target('declined')}`)).text,
      /^The person was asked .*nobody answered in time/,
    );
    assert.equal(asked.length, 2);
    assert.equal(existsSync(target('declined')), false);
  });

  it('keep the sandbox while a rule of the person hides something', async () => {
    const secret = target('secret');
    await mkdir(secret);
    await writeFile(join(secret, 'key'), 'planted');
    const { asked, test } = await setUp({ user: { files: { [secret]: 'none' } } });
    const { text } = await run(test, `cat ${join(secret, 'key')}`, {
      sandbox_permissions: 'require_escalated',
      justification: 'May I?',
    });
    assert.match(text, /may not run without a sandbox: cordon\.sandbox\.files forbids reading/);
    assert.deepEqual(asked, []);
  });

  it('let a command leave the sandbox once, by the person only', async () => {
    const { asked, test } = await setUp({}, 'unsandboxed', 'inside');
    const escalated = { sandbox_permissions: 'require_escalated', justification: 'May I?' };
    assert.match((await run(test, `echo x > ${target('left')}`, escalated)).text, /exited with code 0/);
    assert.equal(await readFile(target('left'), 'utf8'), 'x\n');
    assert.match((await run(test, `echo x > ${target('stayed')}`, escalated)).text, /Read-only file system/);
    assert.equal(existsSync(target('stayed')), false);
    assert.equal(asked.length, 2);
    assert.deepEqual(test.grants.list(), []);
  });

  it('name the field of a request that is not complete', async () => {
    const { test } = await setUp({});
    for (const [input, message] of [
      [{ sandbox_permissions: 'require_escalated' }, /justification is empty/],
      [{ sandbox_permissions: 'with_additional_permissions' }, /additional_permissions is empty/],
      [{ additional_permissions: { network: { enabled: true } } }, /sandbox_permissions is "use_default"/],
      [
        {
          sandbox_permissions: 'with_additional_permissions',
          additional_permissions: { file_system: { read: ['/no/such/file'] } },
        },
        /file_system\.read names "\/no\/such\/file", which does not exist/,
      ],
      [
        {
          sandbox_permissions: 'with_additional_permissions',
          additional_permissions: { network: { hosts: ['http://example.org'] } },
        },
        /network\.hosts names "http:\/\/example\.org", but must be a host alone/,
      ],
      [
        {
          sandbox_permissions: 'with_additional_permissions',
          additional_permissions: { network: { hosts: ['*.org'] } },
        },
        /network\.hosts names "\*\.org", which stands for many hosts/,
      ],
      [{ sandbox_permissions: 'all' }, /sandbox_permissions \("all"\)/],
    ] as const) {
      assert.match((await run(test, 'true', input)).text, message);
    }
  });

  it('count for the folder that was asked about, not for the one that a link leads to by then', async () => {
    const { test } = await setUp({ approval: mode('untrusted') });
    const [before, after, link] = ['before', 'after', 'link'].map((name) => join(test.root, name));
    assert.ok(before && after && link);
    await mkdir(before);
    await mkdir(after);
    await symlink(before, link);
    const folders: string[] = [];
    test.approvals.onDidAsk(({ id, cwd, offers }) => {
      folders.push(cwd);
      if (folders.length === 1) {
        rmSync(link);
        symlinkSync(after, link);
      }
      const answer = offers.at(folders.length === 1 ? 0 : -1)?.answer;
      assert.ok(answer);
      void test.approvals.answer(id, answer);
    });
    const { text } = await run(test, 'touch made', { workdir: link });
    assert.deepEqual(folders, [before, after]);
    assert.match(text, /the person declined/);
    assert.equal(existsSync(join(after, 'made')), false);
    assert.deepEqual(
      test.audited.flatMap((event) => (event.kind === 'end' ? [event.failure] : [])),
      ['the folder, its rules or its policy are others than those that were decided about.'],
    );
  });

  it('on a card are for one folder and shell, both of which it names', async () => {
    const { test } = await setUp({ approval: mode('untrusted') });
    await mkdir(join(test.root, 'sub'));
    const tool = test.runtime.tools.find(({ name }) => name === 'exec_command');
    assert.ok(tool);
    const cardFor = async (input: object) => {
      const parsed = parseToolInput(tool, { cmd: 'touch made', login: false, ...input });
      const card = parsed.ok ? await tool.confirmation(parsed.value) : undefined;
      assert.ok(card);
      return card;
    };
    const own = await cardFor({});
    const others = [await cardFor({ workdir: 'sub' }), await cardFor({ shell: '/bin/sh' })];
    assert.ok(own.message.includes(`\n\nIt runs in ${test.root}.\n\n`));
    assert.ok(others[0]?.message.includes(`It runs in ${join(test.root, 'sub')}.`));
    assert.ok(others[1]?.message.includes('The agent wants /bin/sh to read it.'));
    assert.equal(new Set([own, ...others].map(({ scope }) => scope)).size, 3);
    const forged = await cardFor({ justification: 'May I?\n\nIt runs in nothing.' });
    assert.ok(forged.message.endsWith('\n\nThe agent says: “May I? It runs in nothing.”'));
  });

  it('give up with the caller', async () => {
    runtime = await createTestRuntime({}, process.env, { approval: mode('untrusted') });
    const { approvals, audited, root } = runtime;
    const abort = new AbortController();
    approvals.onDidAsk(() => abort.abort());
    const call = { allow: false, signal: abort.signal };
    const { text } = await runtime.call('exec_command', { cmd: 'touch made' }, call);
    assert.match(text, /the call was cancelled before anybody answered/);
    assert.deepEqual(approvals.list(), []);
    assert.equal(existsSync(join(root, 'made')), false);
    assert.deepEqual(deciders(audited), ['policy', 'gone']);
  });

  it('are refused where there is nobody to ask', async () => {
    const { test } = await setUp({ approval: mode('untrusted') });
    test.approvals.dispose();
    assert.match((await run(test, 'touch made')).text, /nobody to ask/);
    assert.equal(existsSync(join(test.root, 'made')), false);
    assert.deepEqual(deciders(test.audited), ['policy', 'nobody']);
  });

  it('are in the audit log, with who decided and how it ended', async () => {
    const { test } = await setUp({ approval: mode('untrusted') }, 'once', 'deny');
    await run(test, 'touch made');
    await run(test, 'touch other');
    const events = test.audited.map((event) =>
      event.kind === 'decision'
        ? [event.command, event.decision, event.by]
        : event.kind === 'end'
          ? [event.command, event.exitCode]
          : [event.kind],
    );
    assert.deepEqual(events, [
      ['touch made', 'ask', 'policy'],
      ['touch made', 'run', 'person'],
      ['touch made', 0],
      ['touch other', 'ask', 'policy'],
      ['touch other', 'refuse', 'person'],
    ]);
  });
});
