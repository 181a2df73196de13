import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, ok } from '../../../src/base/result.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import type { LauncherName, SandboxError, SandboxReport } from '../../../src/sandbox/sandboxManager.ts';
import { launchers } from '../../../src/sandbox/select/launchers.ts';
import type { Trials } from '../../../src/sandbox/select/selectLauncher.ts';
import { selectLauncher } from '../../../src/sandbox/select/selectLauncher.ts';
import { allFrom, policyOf } from '../../harness/policyOf.ts';

const report = (launcher: LauncherName): SandboxReport => ({
  launcher,
  path: `/usr/bin/${launcher}`,
  version: '1',
  landlockVersion: 7,
  companionInside: '/run/cordon/launch',
  weaknesses: [],
  losses: [],
});
const broken = (kind: SandboxError['kind']): SandboxError => ({
  kind,
  message: `No ${kind}.`,
  hint: `Cure ${kind}.`,
});
const both: Trials = { bubblewrap: ok(report('bubblewrap')), landlock: ok(report('landlock')) };
const landlockOnly: Trials = { ...both, bubblewrap: fail(broken('bubblewrap-missing')) };
const neither: Trials = {
  bubblewrap: fail(broken('namespaces-apparmor')),
  landlock: fail(broken('landlock-missing')),
};
const writing = policyOf('/work/app');
const reading = policyOf('/work/app', { mode: 'read-only', writableRoots: [] });
const user = { isRoot: false };

describe('selectLauncher()', () => {
  const policies: Readonly<Record<string, SandboxPolicy>> = {
    writing,
    reading,
    'with the network on': { ...reading, network: 'on' },
    'with an allow-list': { ...reading, network: 'allow-list' },
    'with a socket': { ...reading, sockets: ['/run/service.sock'] },
    'with a limit of processes': { ...reading, limits: { processes: 10 }, sources: allFrom('user') },
    'with a limit of nobody’s': { ...reading, limits: { processes: 10 } },
  };
  const table: readonly (readonly [
    policy: string,
    trials: Trials,
    isRoot: boolean,
    expected: LauncherName | SandboxError['kind'],
    refused?: RegExp,
  ])[] = [
    ...Object.keys(policies).map((name) => [name, both, true, 'bubblewrap'] as const),
    ['writing', landlockOnly, false, 'bubblewrap-missing', /mode .*protected names.*read-only/],
    ['reading', landlockOnly, false, 'landlock'],
    ['reading', landlockOnly, true, 'landlock'],
    ['with the network on', landlockOnly, false, 'landlock'],
    ['with an allow-list', landlockOnly, false, 'bubblewrap-missing', /network .*no hosts.*"off"/],
    ['with a socket', landlockOnly, false, 'bubblewrap-missing', /sockets .*one Unix socket/],
    ['with a limit of processes', landlockOnly, false, 'landlock'],
    ['with a limit of processes', landlockOnly, true, 'bubblewrap-missing', /limits .*ordinary user/],
    ['with a limit of nobody’s', landlockOnly, true, 'landlock'],
    ['reading', neither, false, 'namespaces-apparmor'],
    ['writing', {}, false, 'platform-unsupported'],
  ];
  for (const [name, trials, isRoot, expected, refused] of table) {
    const having = Object.entries(trials)
      .filter(([, trial]) => trial.ok)
      .map(([launcher]) => launcher);
    it(`a policy ${name}, ${isRoot ? 'as root' : 'as a user'}, with ${having.join(' and ') || 'nothing'} → ${expected}`, () => {
      const policy = policies[name];
      assert.ok(policy);
      const chosen = selectLauncher('linux', trials, policy, { isRoot });
      assert.equal(chosen.ok ? chosen.value.launcher : chosen.error.kind, expected);
      if (refused !== undefined) {
        assert.ok(!chosen.ok);
        assert.match(`${chosen.error.message} ${chosen.error.hint}`, refused);
      }
    });
  }

  it('names the first cause and its cure before what another launcher would take', () => {
    const chosen = selectLauncher('linux', landlockOnly, writing, user);
    assert.ok(!chosen.ok);
    assert.match(chosen.error.message, /^No bubblewrap-missing\. Landlock cannot enforce this policy: mode/);
    assert.match(chosen.error.hint, /^Cure bubblewrap-missing\. What Landlock can enforce: /);
  });

  it('says who decided the clause that is in the way', () => {
    const policy = { ...writing, sources: { ...writing.sources, mode: 'grant' as const } };
    const chosen = selectLauncher('linux', landlockOnly, policy, user);
    assert.ok(!chosen.ok);
    assert.match(chosen.error.message, /mode \(from grant\)/);
  });

  for (const [platform, launcher] of [
    ['darwin', /Seatbelt/],
    ['win32', /restricted token/],
    ['freebsd', /freebsd/],
  ] as const) {
    it(`names what is missing on ${platform}, and runs nothing`, () => {
      const chosen = selectLauncher(platform, {}, reading, user);
      assert.ok(!chosen.ok);
      assert.equal(chosen.error.kind, 'platform-unsupported');
      assert.match(chosen.error.message, launcher);
      assert.match(chosen.error.hint, /danger-full-access/);
    });
  }
});

describe('The table of launchers', () => {
  it('is the one in the docs', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/launchers.md'), 'utf8');
    const squeezed = page.replace(/ +/g, ' ');
    for (const entry of launchers) {
      if ('missing' in entry) {
        assert.ok(
          squeezed.includes(`| ${entry.title} | ${entry.platform} | not in this version |`),
          entry.title,
        );
        continue;
      }
      assert.ok(squeezed.includes(`| ${entry.title} | ${entry.platform} |`), entry.title);
      for (const { clause, reason, nearest } of entry.limits) {
        assert.ok(
          squeezed.includes(`| ${entry.title} | ${clause} | ${reason} | ${nearest} |`),
          `${entry.title}: ${clause}`,
        );
      }
    }
    const rows = squeezed.match(/^\| (?!-|Launcher)/gm) ?? [];
    const limits = launchers.flatMap((entry) => ('missing' in entry ? [] : entry.limits));
    assert.equal(rows.length, launchers.length + limits.length);
  });
});
